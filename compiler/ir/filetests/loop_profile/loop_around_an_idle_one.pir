; test: normalize, width_selection, divergence, loop_profile
; test: run
; loops: count
; Lanes that do not enter the inner loop may have work in the next iteration of the outer one, if there is one: both are counted.
; run: loop_around_an_idle_one([1, 2, 3, 4]:i32, 5:i32, 2:i32) global=4 local=4 => [88, 230, 54, 70]:i32

kernel "loop_around_an_idle_one" {
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
    v19: i1 = icmp.slt v17, 2:i32
    br v19, b4(v17, v18), b6(v18)
  b6(v20: i32):
    v21: i32 = add v8, 1
    jump b1(v21, v20)
  b7(v22: i32):
    store v22 to v5 align 4
    return
  }
}

; output: normalize, divergence, loop_profile
; kernel "loop_around_an_idle_one" {
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
;     jump b1(0, v6)
;   b1(v8: i32, v9: i32):
;     v10: i1 = icmp.slt v8, v1
;     br v10, b2, b7(v9)
;   b2:
;     v11: i32 = add v7, v8
;     v12: i32 = and v11, 3
;     v13: i1 = icmp.slt v12, v2
;     br v13, b8, b9
;   b4(v14: i32, v15: i32):
;     v16: i32 = add v15, v12
;     v17: i32 = add v14, 1
;     v18: i32 = mul v16, 2
;     v19: i1 = icmp.slt v17, 2:i32
;     br v19, b10, b11(v18)
;   b6(v20: i32):
;     v21: i32 = add v8, 1
;     jump b1(v21, v20)
;   b7(v22: i32):
;     store v22 to v5 align 4
;     return
;   b8:
;     jump b4(0, v9)
;   b9:
;     jump b6(v9)
;   b10:
;     jump b4(v17, v18)
;   b11(v28: i32):
;     jump b6(v28)
;   }
; }

; output: normalize, width_selection, divergence, loop_profile
; kernel "loop_around_an_idle_one" {
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
;     jump b1(0, v6, 0)
;   b1(v8: i32, v9: i32, v29: i32):
;     v10: i1 = icmp.slt v8, v1
;     v30: i32 = add v29, 1
;     br v10, b2, b7(v9, v30)
;   b2:
;     v11: i32 = add v7, v8
;     v12: i32 = and v11, 3
;     v13: i1 = icmp.slt v12, v2
;     br v13, b8, b9
;   b4(v14: i32, v15: i32, v32: i32):
;     v16: i32 = add v15, v12
;     v17: i32 = add v14, 1
;     v18: i32 = mul v16, 2
;     v19: i1 = icmp.slt v17, 2:i32
;     v33: i32 = add v32, 1
;     br v19, b10, b11(v18, v33)
;   b6(v20: i32):
;     v21: i32 = add v8, 1
;     jump b1(v21, v20, v30)
;   b7(v22: i32, v31: i32):
;     count_iterations 0, v31
;     store v22 to v5 align 4
;     return
;   b8:
;     jump b4(0, v9, 0)
;   b9:
;     jump b6(v9)
;   b10:
;     jump b4(v17, v18, v33)
;   b11(v28: i32, v34: i32):
;     count_iterations 1, v34
;     jump b6(v28)
;   }
; }
