; test: run
; Lanes of a gang act together where control flow brings them together: ballots, reductions, scans, clusters and shuffles
; are of the lanes that come there. Of 18 work-items, two are a gang of their own.
; run: parted(zeros(72)) global=18 local=18 => [21901, 4, 21901, 4, 21903, 8, 21907, 8, 21913, 12, 21921, 12, 21931, 16, 21943, 16, 17, 34]:i32
; Rows of six are no gangs; the last one is not full. Each work-item reads what the next one of its sub-group wrote.
; run: neighbours(zeros(72)) global=6x3 local=6x3 => [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 17, 16]:i32
; In a loop, those act together that are still there: 16 come to the first round, 15 to the second one.
; run: rounds(zeros(72)) global=18 local=18 => [16, 31, 45, 58, 70, 81, 91, 100, 108, 115, 121, 126, 130, 133, 135, 136, 2, 3]:i32

kernel "parted" {
  args 8
  param "out" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.linear_id 0
    v2: i32 = trunc v1
    v3: i64 = shl v1, 2
    v4: ptr.global = ptradd v0, v3
    v5: i32 = and v2, 1
    v6: i1 = icmp.eq v5, 0:i32
    br v6, b1, b2
  b1:
    v7: i64 = ballot true
    v8: i32 = trunc v7
    v9: i32 = across.reduce.add v2
    v10: i32 = across.exclusive.add v2
    v11: i32 = add v8, v9
    v12: i32 = add v11, v10
    jump b3(v12)
  b2:
    v13: i32 = shuffle v2, 1
    v14: i32 = across.reduce.smax.of4 v2
    v15: i32 = add v13, v14
    jump b3(v15)
  b3(v16: i32):
    store v16 to v4 align 4
    return
  }
}

kernel "neighbours" {
  args 8
  param "out" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  local lv0 size 128 align 4
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.local_id 0
    v2: i64 = query.global_id 1
    v3: i64 = mul v2, 6
    v4: i64 = add v3, v1
    v5: i32 = trunc v4
    v6: i64 = shl v4, 2
    v7: ptr.global = ptradd v0, v6
    v8: ptr.local = local_addr lv0
    v9: ptr.local = ptradd v8, v6
    store v5 to v9 align 4
    gang_barrier
    v10: i64 = ballot true
    v11: i64 = popcount v10
    v12: i64 = query.linear_id 0
    v13: i64 = add v12, 1
    v14: i64 = urem v13, v11
    v15: i64 = and v12, -16
    v16: i64 = add v15, v14
    v17: i64 = shl v16, 2
    v18: ptr.local = ptradd v8, v17
    v19: i32 = load v18 align 4
    store v19 to v7 align 4
    return
  }
}

kernel "rounds" {
  args 8
  param "out" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.linear_id 0
    v2: i64 = shl v1, 2
    v3: ptr.global = ptradd v0, v2
    v4: i64 = and v1, 15
    jump b1(0, 0)
  b1(v5: i64, v6: i32):
    v7: i64 = ballot true
    v8: i64 = popcount v7
    v9: i32 = trunc v8
    v10: i32 = add v6, v9
    v11: i64 = add v5, 1
    v12: i1 = icmp.ule v11, v4
    br v12, b1(v11, v10), b2
  b2:
    store v10 to v3 align 4
    return
  }
}
