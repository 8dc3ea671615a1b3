; test: barriers
; test: regions
; test: run
; A kept value that only one path uses is loaded there, one that a loop uses before the loop.
; run: loaded_in_branch([1, 3, 4]:i32, local(8), 5:i32) global=2 local=2 => [1, 21, 4]:i32

kernel "loaded_in_branch" { ; regions: 2 ; live: i32 i32
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
    v13: i32 = load v5 + 4 align 4
    store v12 to v6 align 4
    barrier
    v14: i32 = load v11 align 4
    v15: i1 = icmp.sgt v14, 1:i32
    br v15, b1, b2(0, v14)
  b1:
    v16: i32 = mul v12, v12
    store v16 to v5 align 4
    return
  b2(v17: i32, v18: i32):
    v19: i32 = add v18, v13
    v20: i32 = add v17, 1
    v21: i1 = icmp.slt v20, v2
    br v21, b2(v20, v19), b3
  b3:
    store v19 to v5 align 4
    return
  }
}

; output: barriers
; kernel "loaded_in_branch" {
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
;     v13: i32 = load v5 + 4 align 4
;     store v12 to v6 align 4
;     live_store ls0, v12
;     live_store ls1, v13
;     exit r1
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v14: i64 = query.local_id 0
;     v11: i64 = query.local_size 0
;     v13: i64 = sub v11, 1
;     v15: i64 = sub v13, v14
;     v17: i64 = shl v15, 2
;     v18: ptr.local = ptradd v1, v17
;     v3: i32 = load v18 align 4
;     v4: i1 = icmp.sgt v3, 1:i32
;     v24: i32 = live_load ls1
;     v22: i64 = shl v14, 2
;     v23: ptr.global = ptradd v0, v22
;     br v4, b1, b2(0, v3)
;   b1:
;     v21: i32 = live_load ls0
;     v5: i32 = mul v21, v21
;     store v5 to v23 align 4
;     return
;   b2(v6: i32, v7: i32):
;     v8: i32 = add v7, v24
;     v9: i32 = add v6, 1
;     v10: i1 = icmp.slt v9, v2
;     br v10, b2(v9, v8), b3
;   b3:
;     store v8 to v23 align 4
;     return
;   }
; }
