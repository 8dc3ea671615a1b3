; test: barriers
; test: regions
; test: run
; A loop that is left before its barrier and behind it; a value of each iteration is used behind the loop.
; run: loop_two_exits([1, 2, 3, 4]:i32, local(16), 2:i32) global=4 local=4 => [201, 202, 203, 204]:i32
; run: loop_two_exits([1, 2, 3, 4]:i32, local(16), 9:i32) global=4 local=4 => [2, 3, 4, 5]:i32

kernel "loop_two_exits" { ; regions: 2 ; live: i32
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
    jump b1(0)
  b1(v13: i32):
    v14: i32 = mul v13, 100
    v15: i1 = icmp.sge v13, v2
    br v15, b4(v14), b2
  b2:
    barrier
    v16: i32 = load v1 align 4
    v17: i1 = icmp.slt v16, v13
    br v17, b4(v16), b3
  b3:
    v18: i32 = add v13, 1
    jump b1(v18)
  b4(v19: i32):
    v20: i32 = load v5 align 4
    v21: i32 = add v19, v20
    store v21 to v5 align 4
    return
  }
}

; output: barriers
; kernel "loop_two_exits" {
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
;     jump b1(0)
;   b1(v13: i32):
;     v14: i32 = mul v13, 100
;     v15: i1 = icmp.sge v13, v2
;     br v15, b3(v14), b2
;   b2:
;     live_store ls0, v13
;     exit r1
;   b3(v16: i32):
;     v17: i32 = load v5 align 4
;     v18: i32 = add v16, v17
;     store v18 to v5 align 4
;     return
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v3: i32 = load v1 align 4
;     v12: i32 = live_load ls0
;     v4: i1 = icmp.slt v3, v12
;     br v4, b3(v3), b4
;   b1(v5: i32):
;     v6: i32 = mul v5, 100
;     v7: i1 = icmp.sge v5, v2
;     br v7, b3(v6), b2
;   b2:
;     live_store ls0, v5
;     exit r1
;   b3(v8: i32):
;     v14: i64 = query.local_id 0
;     v16: i64 = shl v14, 2
;     v17: ptr.global = ptradd v0, v16
;     v9: i32 = load v17 align 4
;     v10: i32 = add v8, v9
;     store v10 to v17 align 4
;     return
;   b4:
;     v11: i32 = add v12, 1
;     jump b1(v11)
;   }
; }
