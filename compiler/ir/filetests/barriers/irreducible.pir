; test: barriers
; test: regions
; test: run
; A loop with two entries: what it carries arrives from either side of the barrier.
; run: irreducible([1, 2]:i32, local(8), 3:i32) global=2 local=2 => [29, 55]:i32

kernel "irreducible" { ; regions: 2 ; live: i32 i32
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
    v13: i1 = icmp.sgt v2, 2:i32
    br v13, b1(0, v12), b2(v2, 1)
  b1(v14: i32, v15: i32):
    v16: i32 = add v14, 1
    barrier
    jump b2(v16, v15)
  b2(v17: i32, v18: i32):
    v19: i32 = mul v18, 3
    v20: i1 = icmp.slt v17, v2
    br v20, b1(v17, v19), b3
  b3:
    v21: i32 = load v11 align 4
    v22: i32 = add v19, v21
    store v22 to v5 align 4
    return
  }
}

; output: barriers
; kernel "irreducible" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "tmp" local "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.local
;   input value(2, 0): i32
;   live ls0: i32
;   live ls1: i32
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
;     v13: i1 = icmp.sgt v2, 2:i32
;     br v13, b2(0, v12), b1(v2, 1)
;   b1(v14: i32, v15: i32):
;     v16: i32 = mul v15, 3
;     v17: i1 = icmp.slt v14, v2
;     br v17, b2(v14, v16), b3
;   b2(v18: i32, v19: i32):
;     v20: i32 = add v18, 1
;     live_store ls0, v19
;     live_store ls1, v20
;     exit r1
;   b3:
;     v21: i32 = load v11 align 4
;     v22: i32 = add v16, v21
;     store v22 to v5 align 4
;     return
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v13: i32 = live_load ls0
;     v12: i32 = live_load ls1
;     jump b1(v12, v13)
;   b1(v3: i32, v4: i32):
;     v5: i32 = mul v4, 3
;     v6: i1 = icmp.slt v3, v2
;     br v6, b2(v3, v5), b3
;   b2(v7: i32, v8: i32):
;     v9: i32 = add v7, 1
;     live_store ls0, v8
;     live_store ls1, v9
;     exit r1
;   b3:
;     v19: i64 = query.local_id 0
;     v16: i64 = query.local_size 0
;     v18: i64 = sub v16, 1
;     v20: i64 = sub v18, v19
;     v22: i64 = shl v20, 2
;     v23: ptr.local = ptradd v1, v22
;     v10: i32 = load v23 align 4
;     v11: i32 = add v5, v10
;     v24: i64 = shl v19, 2
;     v25: ptr.global = ptradd v0, v24
;     store v11 to v25 align 4
;     return
;   }
; }
