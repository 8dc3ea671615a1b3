; test: divergent_loops, linearize
; test: run
; stage: normalized
; Karrenberg & Hack 2012, figures 6 and 10, left: only b (b1) is divergent. d, e, g and i are linearized; h
; (b7) keeps its edges from the other arm. The branch in e (b4) is asked of the active lanes.
; run: one_divergent_branch_of_many([1, 12, 3, 14]:i32, 0:i32, 0:i32) global=4 local=4 => [115, 121, 115, 121]:i32
; run: one_divergent_branch_of_many([1, 12, 3, 14]:i32, 0:i32, 1:i32) global=4 local=4 => [115, 220, 115, 220]:i32
; run: one_divergent_branch_of_many([1, 12, 3, 14]:i32, 1:i32, 0:i32) global=4 local=4 => [230, 230, 230, 230]:i32
; run: one_divergent_branch_of_many([1, 12, 3, 14]:i32, 1:i32, 1:i32) global=4 local=4 => [240, 240, 240, 240]:i32

kernel "one_divergent_branch_of_many" {
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
    v7: i1 = icmp.slt v6, 5:i32
    v8: i1 = icmp.eq v1, 0:i32
    v9: i1 = icmp.eq v2, 0:i32
    br v8, b1, b2
  b1:
    br v7, b3, b4
  b2:
    br v9, b5, b9
  b3:
    jump b6(15)
  b4:
    br v9, b10, b11
  b10:
    jump b6(21)
  b11:
    jump b7(20)
  b5:
    jump b7(30)
  b9:
    jump b7(40)
  b6(v10: i32):
    v11: i32 = add v10, 100
    jump b8(v11)
  b7(v12: i32):
    v13: i32 = add v12, 200
    jump b8(v13)
  b8(v14: i32):
    store v14 to v5 align 4
    return
  }
}

; output: divergent_loops, linearize
; kernel "one_divergent_branch_of_many" {
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
;     v7: i1 = icmp.slt v6, 5:i32
;     v8: i1 = icmp.eq v1, 0:i32
;     v9: i1 = icmp.eq v2, 0:i32
;     br v8, b1, b2
;   b1:
;     v27: i1 = xor v7, true
;     jump b3
;   b3 mask v7:
;     jump b4
;   b4 mask v27:
;     v37: i1 = any v9
;     br v37, b10, b11
;   b10 mask v27:
;     v28: i1 = or v7, v27
;     v30: i32 = select v27, 21, 15
;     jump b6(v28, v30, false)
;   b11 mask v27:
;     jump b6(v7, 15, v27)
;   b6(v29: i1, v31: i32, v32: i1) mask v29:
;     v11: i32 = add v31, 100
;     jump b7(v32, 20, v11)
;   b2:
;     br v9, b5, b9
;   b5:
;     jump b7(true, 30, 0)
;   b9:
;     jump b7(true, 40, 0)
;   b7(v33: i1, v34: i32, v35: i32) mask v33:
;     v13: i32 = add v34, 200
;     v36: i32 = select v33, v13, v35
;     jump b8
;   b8:
;     store v36 to v5 align 4
;     return
;   }
; }
