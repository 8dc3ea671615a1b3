; test: barriers
; test: regions
; test: run
; A barrier on either side; the join gets its value from both.
; run: both_sides([1, 2, 3, 4]:i32, local(16), 1:i32) global=4 local=4 => [9, 8, 7, 6]:i32
; run: both_sides([1, 2, 3, 4]:i32, local(16), 0:i32) global=4 local=4 => [-1, -2, -3, -4]:i32

kernel "both_sides" { ; regions: 3 ; live: i32
  args 24
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "tmp" local "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.local
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.local, v2: i32):
    v3: i64 = query.local_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: ptr.local = ptradd v1, v4
    v7: i64 = query.local_size 0
    v8: i64 = sub v7, 1
    v9: i64 = sub v8, v3
    v10: i64 = shl v9, 2
    v11: ptr.local = ptradd v1, v10
    v12: i32 = load v5 align 4
    store v12 to v6 align 4
    v13: i1 = icmp.sgt v2, 0:i32
    br v13, b1, b2
  b1:
    barrier
    v14: i32 = load v11 align 4
    jump b3(v14)
  b2:
    store v2 to v6 align 4
    barrier
    v15: i32 = load v11 align 4
    v16: i32 = sub v15, v12
    jump b3(v16)
  b3(v17: i32):
    v18: i32 = mul v17, 2
    v19: i32 = add v18, v12
    store v19 to v5 align 4
    return
  }
}

; output: barriers
; kernel "both_sides" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "tmp" local "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.local
;   input value(2, 0): i32
;   live ls0: i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v3: i64 = query.local_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: ptr.local = ptradd v1, v4
;     v7: i64 = query.local_size 0
;     v8: i64 = sub v7, 1
;     v9: i64 = sub v8, v3
;     v10: i64 = shl v9, 2
;     v11: ptr.local = ptradd v1, v10
;     v12: i32 = load v5 align 4
;     store v12 to v6 align 4
;     v13: i1 = icmp.sgt v2, 0:i32
;     br v13, b1, b2
;   b1:
;     live_store ls0, v12
;     exit r1
;   b2:
;     store v2 to v6 align 4
;     live_store ls0, v12
;     exit r2
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v10: i64 = query.local_id 0
;     v7: i64 = query.local_size 0
;     v9: i64 = sub v7, 1
;     v11: i64 = sub v9, v10
;     v13: i64 = shl v11, 2
;     v14: ptr.local = ptradd v1, v13
;     v3: i32 = load v14 align 4
;     jump b1(v3)
;   b1(v4: i32):
;     v5: i32 = mul v4, 2
;     v16: i32 = live_load ls0
;     v6: i32 = add v5, v16
;     v17: i64 = shl v10, 2
;     v18: ptr.global = ptradd v0, v17
;     store v6 to v18 align 4
;     return
;   }
;   region r2 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v11: i64 = query.local_id 0
;     v8: i64 = query.local_size 0
;     v10: i64 = sub v8, 1
;     v12: i64 = sub v10, v11
;     v14: i64 = shl v12, 2
;     v15: ptr.local = ptradd v1, v14
;     v3: i32 = load v15 align 4
;     v16: i32 = live_load ls0
;     v4: i32 = sub v3, v16
;     jump b1(v4)
;   b1(v5: i32):
;     v6: i32 = mul v5, 2
;     v7: i32 = add v6, v16
;     v18: i64 = shl v11, 2
;     v19: ptr.global = ptradd v0, v18
;     store v7 to v19 align 4
;     return
;   }
; }
