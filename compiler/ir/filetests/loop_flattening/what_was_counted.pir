; test: normalize, width_selection, divergence, loop_profile, loop_flattening
; test: run
; loops: counted(1000,16000,17000,272000) counted(1000,1000,8000,8000)
; Of 16 lanes one was at work in an iteration of the inner loop, so the loops are flattened.
; run: what_was_counted([1, 2, 3, 4]:i32, 5:i32, 2:i32) global=4 local=4 => [88, 230, 54, 70]:i32

kernel "what_was_counted" {
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

; output: normalize, width_selection, divergence, loop_profile, loop_flattening
; kernel "what_was_counted" {
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
;     jump b12(0, v6, 0, 0, false)
;   b1(v8: i32, v9: i32):
;     v10: i1 = icmp.slt v8, v1
;     br v10, b2, b7(v9)
;   b2:
;     v11: i32 = add v7, v8
;     v12: i32 = and v11, 3
;     v13: i1 = icmp.slt v12, v2
;     br v13, b8(v9, v12, v8), b9
;   b4(v14: i32, v15: i32, v31: i32, v32: i32):
;     v16: i32 = add v15, v31
;     v17: i32 = add v14, 1
;     v18: i32 = mul v16, 2
;     v19: i1 = icmp.slt v17, 2:i32
;     br v19, b10, b14(v18)
;   b6(v20: i32):
;     v21: i32 = add v8, 1
;     jump b1(v21, v20)
;   b7(v22: i32):
;     store v22 to v5 align 4
;     return
;   b8(v46: i32, v47: i32, v48: i32):
;     jump b4(0, v46, v47, v48)
;   b9:
;     jump b6(v9)
;   b10:
;     jump b13(v32, v17, v18, v31, true)
;   b12(v36: i32, v37: i32, v38: i32, v39: i32, v40: i1):
;     br v40, b16, b17
;   b13(v41: i32, v42: i32, v43: i32, v44: i32, v45: i1):
;     jump b12(v41, v42, v43, v44, v45)
;   b14(v33: i32):
;     jump b15(v33)
;   b15(v34: i32):
;     v35: i32 = add v32, 1
;     jump b13(v35, v34, 0, 0, false)
;   b16:
;     jump b4(v37, v38, v39, v36)
;   b17:
;     jump b1(v36, v37)
;   }
; }
