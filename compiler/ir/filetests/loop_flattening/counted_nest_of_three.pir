; test: normalize, width_selection, divergence, loop_profile, loop_flattening
; test: run
; loops: counted(1000,16000,17000,272000) counted(16000,256000,272000,1088000) counted(256000,1024000,25600000,25600000)
; Lanes leave both inner loops one by one, and idle ones find work in the loop around: both become one with it.
; run: counted_nest_of_three([1, 2, 3, 4, 5, 6]:i32, 4:i32) global=6 local=6 => [562, 129013, 1693432, 248005, 886, 365209]:i32
; run: counted_nest_of_three([1, 2, 3, 4, 5, 6]:i32, 1:i32) global=6 local=6 => [1, 6, 774, 341, 5, 18]:i32
; run: counted_nest_of_three([1, 2, 3, 4, 5, 6]:i32, 0:i32) global=6 local=6 => [1, 2, 3, 4, 5, 6]:i32

kernel "counted_nest_of_three" {
  args 12
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "rounds" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    v2: i64 = query.global_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    v5: i32 = load v4 align 4
    v6: i32 = trunc v2
    jump b1(0, v5)
  b1(v7: i32, v8: i32):
    v9: i1 = icmp.slt v7, v1
    br v9, b2, b9(v8)
  b2:
    v10: i32 = add v6, v7
    v11: i32 = and v10, 3
    jump b3(0, v8)
  b3(v12: i32, v13: i32):
    v14: i1 = icmp.slt v12, v11
    br v14, b4, b8(v13)
  b4:
    v15: i32 = add v6, v12
    v16: i32 = and v15, 3
    jump b5(0, v13)
  b5(v17: i32, v18: i32):
    v19: i1 = icmp.slt v17, v16
    br v19, b6, b7(v18)
  b6:
    v20: i32 = mul v18, 3
    v21: i32 = add v20, v17
    v22: i32 = add v21, v12
    v23: i32 = add v17, 1
    jump b5(v23, v22)
  b7(v24: i32):
    v25: i32 = add v24, v7
    v26: i32 = add v12, 1
    jump b3(v26, v25)
  b8(v27: i32):
    v28: i32 = xor v27, v7
    v29: i32 = add v7, 1
    jump b1(v29, v28)
  b9(v30: i32):
    store v30 to v4 align 4
    return
  }
}

; output: normalize, width_selection, divergence, loop_profile, loop_flattening
; kernel "counted_nest_of_three" {
;   args 12
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "rounds" value "int" size 4 align 4 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32):
;     v2: i64 = query.global_id 0
;     v3: i64 = shl v2, 2
;     v4: ptr.global = ptradd v0, v3
;     v5: i32 = load v4 align 4
;     v6: i32 = trunc v2
;     jump b14(0, v5, 0, 0, 0, false, 0, false)
;   b1(v7: i32, v8: i32):
;     v9: i1 = icmp.slt v7, v1
;     br v9, b2, b9(v8)
;   b2:
;     v10: i32 = add v6, v7
;     v11: i32 = and v10, 3
;     jump b10(0, v8, 0, 0, false, v11, v7)
;   b3(v12: i32, v13: i32):
;     v14: i1 = icmp.slt v12, v52
;     br v14, b4, b16(v13)
;   b4:
;     v15: i32 = add v6, v12
;     v16: i32 = and v15, 3
;     jump b5(0, v13, v16, v12)
;   b5(v17: i32, v18: i32, v37: i32, v38: i32):
;     v19: i1 = icmp.slt v17, v37
;     br v19, b6, b12(v18)
;   b6:
;     v20: i32 = mul v18, 3
;     v21: i32 = add v20, v17
;     v22: i32 = add v21, v38
;     v23: i32 = add v17, 1
;     jump b11(v38, v23, v22, v37, true)
;   b9(v30: i32):
;     store v30 to v4 align 4
;     return
;   b10(v42: i32, v43: i32, v44: i32, v45: i32, v46: i1, v52: i32, v53: i32):
;     br v46, b13, b3(v42, v43)
;   b11(v47: i32, v48: i32, v49: i32, v50: i32, v51: i1):
;     jump b15(v53, v47, v48, v49, v50, v51, v52, true)
;   b12(v39: i32):
;     v40: i32 = add v39, v53
;     v41: i32 = add v38, 1
;     jump b11(v41, v40, 0, 0, false)
;   b13:
;     jump b5(v43, v44, v45, v42)
;   b14(v57: i32, v58: i32, v59: i32, v60: i32, v61: i32, v62: i1, v63: i32, v64: i1):
;     br v64, b17, b1(v57, v58)
;   b15(v65: i32, v66: i32, v67: i32, v68: i32, v69: i32, v70: i1, v71: i32, v72: i1):
;     jump b14(v65, v66, v67, v68, v69, v70, v71, v72)
;   b16(v54: i32):
;     v55: i32 = xor v54, v53
;     v56: i32 = add v53, 1
;     jump b15(v56, v55, 0, 0, 0, false, 0, false)
;   b17:
;     jump b10(v58, v59, v60, v61, v62, v63, v57)
;   }
; }
