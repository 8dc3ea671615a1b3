; test: normalize, width_selection, divergence, loop_flattening
; test: run
; passes: loop_flattening=always
; What follows the inner loop stores, so lanes without work do not run it again and again: they go once round the outer loop for each iteration
; of the inner one (Bulavintsev 2019, figure 5). The inner loop is left out of the outer one as well (b8).
; run: one_round_a_turn([1, 2, 3, 4]:i32, 5:i32, 2:i32) global=4 local=4 => [88, 14, 54, 70]:i32

kernel "one_round_a_turn" {
  args 24
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "rounds" value "int" size 4 align 4 offset 8
  param "without" value "int" size 4 align 4 offset 12
  input value(0, 0): ptr.global
  input value(1, 0): i32
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: i32 = load v5 align 4
    v7: i32 = trunc v3
    jump b1(0, v6)
  b1(v8: i32, v9: i32):
    v10: i1 = icmp.slt v8, v1
    br v10, b2, b7(v9)
  b2:
    v11: i32 = add v7, v8
    v12: i32 = and v11, 3
    v13: i1 = icmp.slt v12, v2
    br v13, b4(0, v9), b6(v9)
  b4(v14: i32, v15: i32):
    v16: i32 = add v15, v12
    v17: i32 = add v14, 1
    v18: i32 = mul v16, 2
    v23: i1 = icmp.eq v18, 14:i32
    br v23, b8, b5
  b5:
    v19: i1 = icmp.slt v17, 2:i32
    br v19, b4(v17, v18), b6(v18)
  b6(v20: i32):
    v21: i32 = add v8, 1
    store v20 to v5 align 4
    jump b1(v21, v20)
  b8:
    store v18 to v5 align 4
    return
  b7(v22: i32):
    store v22 to v5 align 4
    return
  }
}

; output: normalize, width_selection, divergence, loop_flattening
; kernel "one_round_a_turn" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "rounds" value "int" size 4 align 4 offset 8
;   param "without" value "int" size 4 align 4 offset 12
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: i32 = load v5 align 4
;     v7: i32 = trunc v3
;     jump b14(0, v6, 0, 0, false)
;   b1(v8: i32, v9: i32):
;     v10: i1 = icmp.slt v8, v1
;     br v10, b2, b7(v9)
;   b2:
;     v11: i32 = add v7, v8
;     v12: i32 = and v11, 3
;     v13: i1 = icmp.slt v12, v2
;     br v13, b10, b11
;   b4(v14: i32, v15: i32, v34: i32, v35: i32):
;     v16: i32 = add v15, v34
;     v17: i32 = add v14, 1
;     v18: i32 = mul v16, 2
;     v23: i1 = icmp.eq v18, 14:i32
;     br v23, b8(v18), b5
;   b5:
;     v19: i1 = icmp.slt v17, 2:i32
;     br v19, b12, b16(v18)
;   b6(v20: i32):
;     v21: i32 = add v8, 1
;     store v20 to v5 align 4
;     jump b15(v21, v20, 0, 0, false)
;   b8(v30: i32):
;     store v30 to v5 align 4
;     jump b9
;   b7(v22: i32):
;     store v22 to v5 align 4
;     jump b9
;   b9:
;     return
;   b10:
;     jump b4(0, v9, v12, v8)
;   b11:
;     jump b6(v9)
;   b12:
;     jump b15(v35, v17, v18, v34, true)
;   b14(v39: i32, v40: i32, v41: i32, v42: i32, v43: i1):
;     br v43, b18, b1(v39, v40)
;   b15(v44: i32, v45: i32, v46: i32, v47: i32, v48: i1):
;     jump b14(v44, v45, v46, v47, v48)
;   b16(v36: i32):
;     jump b17(v36)
;   b17(v37: i32):
;     v38: i32 = add v35, 1
;     store v37 to v5 align 4
;     jump b15(v38, v37, 0, 0, false)
;   b18:
;     jump b4(v40, v41, v42, v39)
;   }
; }
