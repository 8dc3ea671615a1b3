; test: barriers
; test: regions
; test: run
; Two barriers in a loop. The counter and the sum are kept; both regions hold the loop's head.
; run: counted_loop([1, 2, 3, 4]:i32, local(16), 3:i32) global=4 local=4 => [15, 12, 9, 6]:i32
; run: counted_loop([1, 2, 3, 4]:i32, local(16), 0:i32) global=4 local=4 => [0, 0, 0, 0]:i32

kernel "counted_loop" { ; regions: 3 ; live: i32 i32
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
    jump b1(0, 0)
  b1(v12: i32, v13: i32):
    v14: i1 = icmp.slt v12, v2
    br v14, b2, b3
  b2:
    v15: i32 = load v5 align 4
    v16: i32 = add v15, v12
    store v16 to v6 align 4
    barrier
    v17: i32 = load v11 align 4
    v18: i32 = add v13, v17
    barrier
    v19: i32 = add v12, 1
    jump b1(v19, v18)
  b3:
    store v13 to v5 align 4
    return
  }
}

; output: barriers
; kernel "counted_loop" {
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
;     jump b1(0, 0)
;   b1(v12: i32, v13: i32):
;     v14: i1 = icmp.slt v12, v2
;     br v14, b2, b3
;   b2:
;     v15: i32 = load v5 align 4
;     v16: i32 = add v15, v12
;     store v16 to v6 align 4
;     live_store ls0, v12
;     live_store ls1, v13
;     exit r1
;   b3:
;     store v13 to v5 align 4
;     return
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v8: i64 = query.local_id 0
;     v5: i64 = query.local_size 0
;     v7: i64 = sub v5, 1
;     v9: i64 = sub v7, v8
;     v11: i64 = shl v9, 2
;     v12: ptr.local = ptradd v1, v11
;     v3: i32 = load v12 align 4
;     v13: i32 = live_load ls1
;     v4: i32 = add v13, v3
;     live_store ls1, v4
;     exit r2
;   }
;   region r2 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v9: i32 = live_load ls0
;     v3: i32 = add v9, 1
;     v11: i32 = live_load ls1
;     jump b1(v3, v11)
;   b1(v4: i32, v5: i32):
;     v6: i1 = icmp.slt v4, v2
;     v12: i64 = query.local_id 0
;     v14: i64 = shl v12, 2
;     v15: ptr.global = ptradd v0, v14
;     br v6, b2, b3
;   b2:
;     v7: i32 = load v15 align 4
;     v8: i32 = add v7, v4
;     v16: ptr.local = ptradd v1, v14
;     store v8 to v16 align 4
;     live_store ls0, v4
;     live_store ls1, v5
;     exit r1
;   b3:
;     store v5 to v15 align 4
;     return
;   }
; }
