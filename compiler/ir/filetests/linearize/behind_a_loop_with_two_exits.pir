; test: divergent_loops, linearize
; test: run
; stage: normalized
; A uniform loop is left by all its lanes, through either exit: the block where both meet (b7) needs no mask
; of its own.
; run: behind_a_loop_with_two_exits([1, 3, 9, 2]:i32, 2:i32, 5:i32) global=4 local=4 => [1, 3, 9, 2]:i32
; run: behind_a_loop_with_two_exits([1, 3, 9, 2]:i32, 5:i32, 1:i32) global=4 local=4 => [2, 6, 18, 4]:i32

kernel "behind_a_loop_with_two_exits" {
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
    jump b2(0)
  b2(v9: i32):
    v10: i1 = icmp.sge v9, v1
    br v10, b5, b3
  b3:
    v11: i1 = icmp.eq v9, v2
    br v11, b6, b4
  b4:
    v12: i32 = add v9, 1
    jump b2(v12)
  b5:
    jump b7(1)
  b6:
    jump b7(2)
  b7(v13: i32):
    v14: i32 = add v8, v13
    v15: i32 = add v7, 1
    v16: i1 = icmp.slt v15, v6
    br v16, b8, b9(v14)
  b8:
    jump b1(v15, v14)
  b9(v17: i32):
    store v17 to v5 align 4
    return
  }
}

; output: divergent_loops, linearize
; kernel "behind_a_loop_with_two_exits" {
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
;     jump b10(0, 0, true, 0)
;   b10(v7: i32, v8: i32, v22: i1, v23: i32):
;     v30: i1 = any v22
;     br v30, b11, b13
;   b11:
;     jump b1
;   b1 mask v22:
;     jump b2(0)
;   b2(v9: i32) mask v22:
;     v10: i1 = icmp.sge v9, v1
;     v35: i1 = any v10
;     br v35, b5, b3
;   b3 mask v22:
;     v11: i1 = icmp.eq v9, v2
;     v36: i1 = any v11
;     br v36, b6, b4
;   b4 mask v22:
;     v12: i32 = add v9, 1
;     jump b2(v12)
;   b5 mask v22:
;     jump b7(1)
;   b6 mask v22:
;     jump b7(2)
;   b7(v13: i32) mask v22:
;     v14: i32 = add v8, v13
;     v15: i32 = add v7, 1
;     v16: i1 = icmp.slt v15, v6
;     v31: i1 = and v22, v16
;     v32: i1 = xor v16, true
;     v33: i1 = and v22, v32
;     v34: i32 = select v33, v14, v23
;     jump b8
;   b8 mask v31:
;     jump b12
;   b12:
;     jump b10(v15, v14, v31, v34)
;   b13:
;     jump b9(v23)
;   b9(v17: i32):
;     store v17 to v5 align 4
;     return
;   }
; }
