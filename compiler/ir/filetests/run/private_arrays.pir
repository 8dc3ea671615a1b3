; test: run
; A small array, one too large for the stack, and one with more than the scratch memory's alignment: in a
; region of its own each, and kept across a barrier.
; run: passing([1, 2, 3]:i32, 7:i32) global=3 local=3 => [1008, 1009, 1010]:i32
; run: kept([1, 2, 3]:i32, 7:i32) global=3 local=3 => [1008, 1009, 1010]:i32
; run: fresh([0, 0, 0, 0]:i32, 2:i32) global=4 local=4 => [5, 5, 5, 5]:i32

kernel "passing" {
  args 12
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "k" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  slot ss0 size 32 align 4
  slot ss1 size 100000 align 8
  slot ss2 size 512 align 256
  region r0 {
  b0(v0: ptr.global, v1: i32):
    v2: i64 = query.global_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    v5: i32 = load v4 align 4
    v6: ptr.private = slot_addr ss0
    v7: ptr.private = slot_addr ss1
    v8: ptr.private = slot_addr ss2
    v9: i64 = sext v1
    v10: i64 = shl v9, 2
    v11: ptr.private = ptradd v6, v10
    v12: i64 = mul v9, 1000
    v13: ptr.private = ptradd v7, v12
    v14: ptr.private = ptradd v8, v10
    store v5 to v11 align 4
    store v1 to v13 align 4
    v15: i64 = ptrtoint v8
    v16: i64 = and v15, 255
    v17: i32 = trunc v16
    v18: i32 = add v17, 1000
    store v18 to v14 align 4
    v19: i32 = load v6 + 28 align 4
    v20: i32 = load v7 + 7000 align 4
    v21: i32 = load v8 + 28 align 4
    v22: i32 = add v19, v20
    v23: i32 = add v22, v21
    store v23 to v4 align 4
    return
  }
}

kernel "kept" {
  args 12
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "k" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  slot ss0 size 32 align 4
  slot ss1 size 100000 align 8
  slot ss2 size 512 align 256
  region r0 {
  b0(v0: ptr.global, v1: i32):
    v2: i64 = query.global_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    v5: i32 = load v4 align 4
    v6: ptr.private = slot_addr ss0
    v7: ptr.private = slot_addr ss1
    v8: ptr.private = slot_addr ss2
    v9: i64 = sext v1
    v10: i64 = shl v9, 2
    v11: ptr.private = ptradd v6, v10
    v12: i64 = mul v9, 1000
    v13: ptr.private = ptradd v7, v12
    v14: ptr.private = ptradd v8, v10
    store v5 to v11 align 4
    store v1 to v13 align 4
    v15: i64 = ptrtoint v8
    v16: i64 = and v15, 255
    v17: i32 = trunc v16
    v18: i32 = add v17, 1000
    store v18 to v14 align 4
    barrier
    v19: i32 = load v6 + 28 align 4
    v20: i32 = load v7 + 7000 align 4
    v21: i32 = load v8 + 28 align 4
    v22: i32 = add v19, v20
    v23: i32 = add v22, v21
    store v23 to v4 align 4
    return
  }
}

; Each work-item counts in its own array, from what it stored itself.
kernel "fresh" {
  args 12
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "k" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  slot ss0 size 16 align 4
  region r0 {
  b0(v0: ptr.global, v1: i32):
    v2: i64 = query.global_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    v5: ptr.private = slot_addr ss0
    store 0:i32, 0:i32, 3:i32, 0:i32 to v5 align 4
    v6: i64 = sext v1
    v7: i64 = shl v6, 2
    v8: ptr.private = ptradd v5, v7
    v9: i32 = load v8 align 4
    v10: i32 = add v9, 2
    store v10 to v8 align 4
    v11: i32 = load v5 + 8 align 4
    store v11 to v4 align 4
    return
  }
}
