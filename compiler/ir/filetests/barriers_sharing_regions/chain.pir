; test: barriers
; bounds: few_insts(0) most_copies(0)
; test: run
; The second condition stands behind the barrier under the first one and behind what is done instead. It is copied once for
; the work-items that come from the barriers, which go on where a number tells.
; run: chain([1, 2, 3, 4]:i32, local(16), 3:i32) global=4 local=4 => [25, 19, 13, 7]:i32
; run: chain([1, 2, 3, 4]:i32, local(16), 1:i32) global=4 local=4 => [9, 7, 5, 3]:i32
; run: chain([1, 2, 3, 4]:i32, local(16), 0:i32) global=4 local=4 => [1, 2, 3, 4]:i32

kernel "chain" {
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
    v13: i32 = and v2, 1
    v14: i1 = icmp.ne v13, 0:i32
    br v14, b1, b2(v12)
  b1:
    store v12 to v6 align 4
    barrier
    v15: i32 = load v11 align 4
    v16: i32 = mul v15, 2
    v17: i32 = add v16, 1
    barrier
    jump b2(v17)
  b2(v18: i32):
    v19: i32 = and v2, 2
    v20: i1 = icmp.ne v19, 0:i32
    br v20, b3, b4(v18)
  b3:
    store v18 to v6 align 4
    barrier
    v21: i32 = load v6 align 4
    v22: i32 = mul v21, 3
    v23: i32 = sub v22, 2
    barrier
    jump b4(v23)
  b4(v24: i32):
    store v24 to v5 align 4
    return
  }
}

; output: barriers
; kernel "chain" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "tmp" local "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.local
;   input value(2, 0): i32
;   live ls0: i32 shared
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
;     v13: i32 = and v2, 1
;     v14: i1 = icmp.ne v13, 0:i32
;     br v14, b1, b2(v12)
;   b1:
;     store v12 to v6 align 4
;     live_store ls1, 0:i32
;     exit r1
;   b2(v15: i32):
;     v16: i32 = and v2, 2
;     v17: i1 = icmp.ne v16, 0:i32
;     br v17, b3, b4(v15)
;   b3:
;     store v15 to v6 align 4
;     live_store ls1, 0:i32
;     exit r3
;   b4(v18: i32):
;     store v18 to v5 align 4
;     return
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v9: i64 = query.local_id 0
;     v6: i64 = query.local_size 0
;     v8: i64 = sub v6, 1
;     v10: i64 = sub v8, v9
;     v12: i64 = shl v10, 2
;     v13: ptr.local = ptradd v1, v12
;     v3: i32 = load v13 align 4
;     v4: i32 = mul v3, 2
;     v5: i32 = add v4, 1
;     live_store ls1, v5
;     live_store ls0, 0:i32
;     exit r2
;   }
;   region r2 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v3: i32 = live_load ls0
;     v12: i64 = query.local_id 0
;     v14: i64 = shl v12, 2
;     switch v3 [0: b1] default b2
;   b1:
;     v8: i32 = live_load ls1
;     jump b3(v8)
;   b2:
;     v9: i32 = live_load ls1
;     jump b5(v9)
;   b3(v4: i32):
;     v5: i32 = and v2, 2
;     v6: i1 = icmp.ne v5, 0:i32
;     br v6, b4, b5(v4)
;   b4:
;     v15: ptr.local = ptradd v1, v14
;     store v4 to v15 align 4
;     exit r3
;   b5(v7: i32):
;     v16: ptr.global = ptradd v0, v14
;     store v7 to v16 align 4
;     return
;   }
;   region r3 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v6: i64 = query.local_id 0
;     v8: i64 = shl v6, 2
;     v9: ptr.local = ptradd v1, v8
;     v3: i32 = load v9 align 4
;     v4: i32 = mul v3, 3
;     v5: i32 = sub v4, 2
;     live_store ls1, v5
;     live_store ls0, 1:i32
;     exit r2
;   }
; }
