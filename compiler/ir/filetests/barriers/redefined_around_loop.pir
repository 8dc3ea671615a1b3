; test: barriers
; test: regions
; test: run
; A value of the loop's head is used where the path with barriers and the one around them meet: there the kept
; definition and the next iteration's meet too.
; run: redefined_around_loop([1, 2]:i32, local(8), 3:i32) global=2 local=2 => [206, 206]:i32

kernel "redefined_around_loop" { ; regions: 3 ; live: i32 i32 i32
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
    jump b1(0)
  b1(v12: i32):
    v13: i32 = load v5 align 4
    v14: i32 = and v12, 1
    v15: i1 = icmp.eq v14, 0:i32
    br v15, b2, b3(100)
  b2:
    store v13 to v6 align 4
    barrier
    v16: i32 = load v11 align 4
    barrier
    jump b3(v16)
  b3(v17: i32):
    v18: i32 = add v13, v17
    store v18 to v5 align 4
    v19: i32 = add v12, 1
    v20: i1 = icmp.slt v19, v2
    br v20, b1(v19), b4
  b4:
    return
  }
}

; output: barriers
; kernel "redefined_around_loop" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "tmp" local "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.local
;   input value(2, 0): i32
;   live ls0: i32
;   live ls1: i32
;   live ls2: i32
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
;     jump b1(0)
;   b1(v12: i32):
;     v13: i32 = load v5 align 4
;     v14: i32 = and v12, 1
;     v15: i1 = icmp.eq v14, 0:i32
;     br v15, b2, b3(100)
;   b2:
;     store v13 to v6 align 4
;     live_store ls0, v12
;     live_store ls1, v13
;     exit r1
;   b3(v16: i32):
;     v17: i32 = add v13, v16
;     store v17 to v5 align 4
;     v18: i32 = add v12, 1
;     v19: i1 = icmp.slt v18, v2
;     br v19, b1(v18), b4
;   b4:
;     return
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v7: i64 = query.local_id 0
;     v4: i64 = query.local_size 0
;     v6: i64 = sub v4, 1
;     v8: i64 = sub v6, v7
;     v10: i64 = shl v8, 2
;     v11: ptr.local = ptradd v1, v10
;     v3: i32 = load v11 align 4
;     live_store ls2, v3
;     exit r2
;   }
;   region r2 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v16: i64 = query.local_id 0
;     v18: i64 = shl v16, 2
;     v19: ptr.global = ptradd v0, v18
;     v15: i32 = live_load ls1
;     v14: i32 = live_load ls0
;     v13: i32 = live_load ls2
;     jump b3(v13, v14, v15)
;   b1(v3: i32):
;     v4: i32 = load v19 align 4
;     v5: i32 = and v3, 1
;     v6: i1 = icmp.eq v5, 0:i32
;     br v6, b2, b3(100, v3, v4)
;   b2:
;     v23: ptr.local = ptradd v1, v18
;     store v4 to v23 align 4
;     live_store ls0, v3
;     live_store ls1, v4
;     exit r1
;   b3(v7: i32, v11: i32, v12: i32):
;     v8: i32 = add v12, v7
;     store v8 to v19 align 4
;     v9: i32 = add v11, 1
;     v10: i1 = icmp.slt v9, v2
;     br v10, b1(v9), b4
;   b4:
;     return
;   }
; }
