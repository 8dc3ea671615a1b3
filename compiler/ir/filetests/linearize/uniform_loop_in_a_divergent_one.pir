; test: divergent_loops, linearize
; test: run
; stage: normalized
; Karrenberg & Hack 2012, figures 6 and 10, middle: lanes leave the outer loop one by one, the inner one
; together. As no lane may come to the inner one, a gate leads past it.
; run: uniform_loop_in_a_divergent_one([1, 3, 0, 2]:i32, 2:i32, 0:i32) global=4 local=4 => [2, 6, 0, 4]:i32
; run: uniform_loop_in_a_divergent_one([1, 3, 0, 2]:i32, 0:i32, 0:i32) global=4 local=4 => [0, 0, 0, 0]:i32

kernel "uniform_loop_in_a_divergent_one" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "u" value "int" size 4 align 4 offset 8
  param "w" value "int" size 4 align 4 offset 12
  input value(0, 0): ptr.global
  input value(1, 0): i32
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: i32 = load v5 align 4
    jump b1(0, 0)
  b1(v7: i32, v8: i32):
    v9: i1 = icmp.slt v7, v6
    br v9, b2, b7(v8)
  b2:
    jump b3(0, v8)
  b3(v10: i32, v11: i32):
    v12: i1 = icmp.slt v10, v1
    br v12, b4, b5(v11)
  b4:
    v13: i32 = add v10, 1
    v14: i32 = add v11, 1
    jump b3(v13, v14)
  b5(v15: i32):
    v16: i32 = add v7, 1
    jump b1(v16, v15)
  b7(v17: i32):
    store v17 to v5 align 4
    return
  }
}

; output: divergent_loops, linearize
; kernel "uniform_loop_in_a_divergent_one" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "u" value "int" size 4 align 4 offset 8
;   param "w" value "int" size 4 align 4 offset 12
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: i32 = load v5 align 4
;     jump b8(0, 0, true, 0)
;   b8(v7: i32, v8: i32, v21: i1, v22: i32):
;     v29: i1 = any v21
;     br v29, b9, b11
;   b9:
;     jump b1
;   b1 mask v21:
;     v9: i1 = icmp.slt v7, v6
;     v31: i1 = and v21, v9
;     v32: i1 = xor v9, true
;     v33: i1 = and v21, v32
;     v34: i32 = select v33, v8, v22
;     jump b2
;   b2 mask v31:
;     v30: i1 = any true
;     br v30, b12, b13
;   b12 mask v31:
;     jump b3(0, v8)
;   b3(v10: i32, v11: i32) mask v31:
;     v12: i1 = icmp.slt v10, v1
;     v35: i1 = any v12
;     br v35, b4, b5(v11)
;   b4 mask v31:
;     v13: i32 = add v10, 1
;     v14: i32 = add v11, 1
;     jump b3(v13, v14)
;   b13 mask v31:
;     jump b5(0)
;   b5(v15: i32) mask v31:
;     v16: i32 = add v7, 1
;     jump b10
;   b10:
;     jump b8(v16, v15, v31, v34)
;   b11:
;     jump b7(v22)
;   b7(v17: i32):
;     store v17 to v5 align 4
;     return
;   }
; }
