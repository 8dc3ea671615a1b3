; test: run
; test: barriers
; A uniform loop with a barrier in it, left from its header and from behind the barrier.
; Each item adds to its own number what its right neighbour has, n times or until item 0 passes the limit.
; run: rotate([1, 2, 3, 4, 5, 6, 7, 8]:i32, local(16), 2:i32, 100:i32) global=8 local=4 => [6, 9, 8, 7, 18, 21, 20, 19]:i32
; run: rotate([1, 2, 3, 4]:i32, local(16), 9:i32, 4:i32) global=4 local=4 => [6, 9, 8, 7]:i32
; run: rotate([1, 2, 3, 4]:i32, local(16), 0:i32, 3:i32) global=4 local=4 => [1, 2, 3, 4]:i32

kernel "rotate" {
  args 24
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "tmp" local "int*" size 8 align 128 offset 8
  param "n" value "int" size 4 align 4 offset 16
  param "limit" value "int" size 4 align 4 offset 20
  input value(0, 0): ptr.global
  input value(1, 0): ptr.local
  input value(2, 0): i32
  input value(3, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.local, v2: i32, v3: i32):
    v4: i64 = query.global_id 0
    v5: i64 = query.local_id 0
    v6: i64 = query.local_size 0
    v7: i64 = shl v4, 2
    v8: ptr.global = ptradd.inbounds v0, v7
    v9: i32 = load v8 align 4
    v10: i64 = shl v5, 2
    v11: ptr.local = ptradd.inbounds v1, v10
    v12: i64 = add v5, 1
    v13: i64 = urem v12, v6
    v14: i64 = shl v13, 2
    v15: ptr.local = ptradd.inbounds v1, v14
    jump b1(0, v9)
  b1(v16: i32, v17: i32):
    v18: i1 = icmp.slt v16, v2
    br v18, b2, b4(v17)
  b2:
    store v17 to v11 align 4
    barrier
    v19: i32 = load v15 align 4
    v20: i32 = load v1 align 4
    v21: i1 = icmp.sgt v20, v3
    br v21, b4(v17), b3
  b3:
    v22: i32 = add v9, v19
    v23: i32 = add v16, 1
    barrier
    jump b1(v23, v22)
  b4(v24: i32):
    store v24 to v8 align 4
    return
  }
}

; output: barriers
; kernel "rotate" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "tmp" local "int*" size 8 align 128 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   param "limit" value "int" size 4 align 4 offset 20
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.local
;   input value(2, 0): i32
;   input value(3, 0): i32
;   live ls0: i32
;   live ls1: ptr.local
;   live ls2: i32
;   live ls3: i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32, v3: i32):
;     v4: i64 = query.global_id 0
;     v5: i64 = query.local_id 0
;     v6: i64 = query.local_size 0
;     v7: i64 = shl v4, 2
;     v8: ptr.global = ptradd.inbounds v0, v7
;     v9: i32 = load v8 align 4
;     v10: i64 = shl v5, 2
;     v11: ptr.local = ptradd.inbounds v1, v10
;     v12: i64 = add v5, 1
;     v13: i64 = urem v12, v6
;     v14: i64 = shl v13, 2
;     v15: ptr.local = ptradd.inbounds v1, v14
;     jump b1(0, v9)
;   b1(v16: i32, v17: i32):
;     v18: i1 = icmp.slt v16, v2
;     br v18, b2, b3(v17)
;   b2:
;     store v17 to v11 align 4
;     live_store ls0, v9
;     live_store ls1, v15
;     live_store ls2, v16
;     live_store ls3, v17
;     exit r1
;   b3(v19: i32):
;     store v19 to v8 align 4
;     return
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32, v3: i32):
;     v10: ptr.local = live_load ls1
;     v4: i32 = load v10 align 4
;     v5: i32 = load v1 align 4
;     v6: i1 = icmp.sgt v5, v3
;     v11: i32 = live_load ls3
;     br v6, b2(v11), b1
;   b1:
;     v12: i32 = live_load ls0
;     v7: i32 = add v12, v4
;     v13: i32 = live_load ls2
;     v8: i32 = add v13, 1
;     live_store ls3, v7
;     live_store ls2, v8
;     exit r2
;   b2(v9: i32):
;     v15: i64 = query.global_id 0
;     v17: i64 = shl v15, 2
;     v18: ptr.global = ptradd.inbounds v0, v17
;     store v9 to v18 align 4
;     return
;   }
;   region r2 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32, v3: i32):
;     v9: i32 = live_load ls3
;     v8: i32 = live_load ls2
;     jump b1(v8, v9)
;   b1(v4: i32, v5: i32):
;     v6: i1 = icmp.slt v4, v2
;     br v6, b2, b3(v5)
;   b2:
;     v10: i64 = query.local_id 0
;     v12: i64 = shl v10, 2
;     v13: ptr.local = ptradd.inbounds v1, v12
;     store v5 to v13 align 4
;     live_store ls2, v4
;     live_store ls3, v5
;     exit r1
;   b3(v7: i32):
;     v14: i64 = query.global_id 0
;     v15: i64 = shl v14, 2
;     v16: ptr.global = ptradd.inbounds v0, v15
;     store v7 to v16 align 4
;     return
;   }
; }
