; test: unroll_barrier_loops
; launch: ids_fit_int zero_offset full_groups local(8,1,1)
; test: run
; stage: regions
; Groups of eight halve three times: each round has a region with its bound in place, and the loop is gone.
; run: reduce([1, 2, 3, 4, 5, 6, 7, 8, 1 x 8]:i32, [0, 0]:i32, local(32)) global=16 local=8 => _, [36, 8]:i32

kernel "reduce" {
  args 24
  param "in" pointer.global "int*" size 8 align 8 offset 0
  param "sums" pointer.global "int*" size 8 align 8 offset 8
  param "partial" local "int*" size 8 align 128 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): ptr.local
  live ls0: i64 shared
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: ptr.local):
    v3: i64 = query.local_id 0
    v4: i64 = query.global_id 0
    v5: i64 = shl v4, 2
    v6: ptr.global = ptradd v0, v5
    v7: i32 = load v6 align 4
    v8: i64 = shl v3, 2
    v9: ptr.local = ptradd v2, v8
    store v7 to v9 align 4
    exit r1
  }
  region r1 {
  b0(v0: ptr.global, v1: ptr.global, v2: ptr.local):
    v3: i64 = query.local_size 0
    v4: i64 = lshr v3, 1
    v5: i1 = icmp.eq v4, 0:i64
    br v5, b4, b1(v4)
  b1(v6: i64):
    v7: i64 = query.local_id 0
    v8: i1 = icmp.ult v7, v6
    br v8, b2, b3
  b2:
    v9: i64 = shl v7, 2
    v10: i64 = shl v6, 2
    v11: ptr.local = ptradd v2, v9
    v12: ptr.local = ptradd v11, v10
    v13: i32 = load v11 align 4
    v14: i32 = load v12 align 4
    v15: i32 = add v13, v14
    store v15 to v11 align 4
    jump b3
  b3:
    live_store ls0, v6
    exit r2
  b4:
    return
  }
  region r2 {
  b0(v0: ptr.global, v1: ptr.global, v2: ptr.local):
    v3: i64 = live_load ls0
    v4: i64 = lshr v3, 1
    v5: i1 = icmp.eq v4, 0:i64
    br v5, b4, b1(v4)
  b1(v6: i64):
    v7: i64 = query.local_id 0
    v8: i1 = icmp.ult v7, v6
    br v8, b2, b3
  b2:
    v9: i64 = shl v7, 2
    v10: i64 = shl v6, 2
    v11: ptr.local = ptradd v2, v9
    v12: ptr.local = ptradd v11, v10
    v13: i32 = load v11 align 4
    v14: i32 = load v12 align 4
    v15: i32 = add v13, v14
    store v15 to v11 align 4
    jump b3
  b3:
    live_store ls0, v6
    exit r2
  b4:
    v16: i64 = query.local_id 0
    v17: i1 = icmp.eq v16, 0:i64
    br v17, b5, b6
  b5:
    v18: i32 = load v2 align 4
    v19: i64 = query.group_id 0
    v20: i64 = shl v19, 2
    v21: ptr.global = ptradd v1, v20
    store v18 to v21 align 4
    jump b6
  b6:
    return
  }
}

; output: unroll_barrier_loops
; kernel "reduce" {
;   args 24
;   param "in" pointer.global "int*" size 8 align 8 offset 0
;   param "sums" pointer.global "int*" size 8 align 8 offset 8
;   param "partial" local "int*" size 8 align 128 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): ptr.local
;   live ls0: i64 shared
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: ptr.local):
;     v3: i64 = query.local_id 0
;     v4: i64 = query.global_id 0
;     v5: i64 = shl v4, 2
;     v6: ptr.global = ptradd v0, v5
;     v7: i32 = load v6 align 4
;     v8: i64 = shl v3, 2
;     v9: ptr.local = ptradd v2, v8
;     store v7 to v9 align 4
;     exit r1
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.global, v2: ptr.local):
;     jump b1(4)
;   b1(v6: i64):
;     v7: i64 = query.local_id 0
;     v8: i1 = icmp.ult v7, 4:i64
;     br v8, b2, b3
;   b2:
;     v9: i64 = shl v7, 2
;     v11: ptr.local = ptradd v2, v9
;     v12: ptr.local = ptradd v11, 16
;     v13: i32 = load v11 align 4
;     v14: i32 = load v12 align 4
;     v15: i32 = add v13, v14
;     store v15 to v11 align 4
;     jump b3
;   b3:
;     live_store ls0, 4:i64
;     exit r2
;   }
;   region r2 {
;   b0(v0: ptr.global, v1: ptr.global, v2: ptr.local):
;     jump b1(2)
;   b1(v6: i64):
;     v7: i64 = query.local_id 0
;     v8: i1 = icmp.ult v7, 2:i64
;     br v8, b2, b3
;   b2:
;     v9: i64 = shl v7, 2
;     v11: ptr.local = ptradd v2, v9
;     v12: ptr.local = ptradd v11, 8
;     v13: i32 = load v11 align 4
;     v14: i32 = load v12 align 4
;     v15: i32 = add v13, v14
;     store v15 to v11 align 4
;     jump b3
;   b3:
;     live_store ls0, 2:i64
;     exit r3
;   }
;   region r3 {
;   b0(v0: ptr.global, v1: ptr.global, v2: ptr.local):
;     jump b1(1)
;   b1(v6: i64):
;     v7: i64 = query.local_id 0
;     v8: i1 = icmp.ult v7, 1:i64
;     br v8, b2, b3
;   b2:
;     v9: i64 = shl v7, 2
;     v11: ptr.local = ptradd v2, v9
;     v12: ptr.local = ptradd v11, 4
;     v13: i32 = load v11 align 4
;     v14: i32 = load v12 align 4
;     v15: i32 = add v13, v14
;     store v15 to v11 align 4
;     jump b3
;   b3:
;     live_store ls0, 1:i64
;     exit r4
;   }
;   region r4 {
;   b0(v0: ptr.global, v1: ptr.global, v2: ptr.local):
;     jump b4
;   b4:
;     v16: i64 = query.local_id 0
;     v17: i1 = icmp.eq v16, 0:i64
;     br v17, b5, b6
;   b5:
;     v18: i32 = load v2 align 4
;     v19: i64 = query.group_id 0
;     v20: i64 = shl v19, 2
;     v21: ptr.global = ptradd v1, v20
;     store v18 to v21 align 4
;     jump b6
;   b6:
;     return
;   }
; }
