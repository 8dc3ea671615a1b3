; test: coherence_versions, divergent_loops, linearize
; passes: -all,unmasked_loops=always,coherent_branches=always
; test: run
; stage: normalized
; The inner loop, in which lanes wait for each other, gets a version in the version of the outer one only.
; run: nested([1, 3, 0, 2]:i32, 0:i32, 0:i32) global=4 local=4 => [0, 7, 0, 2]:i32

kernel "nested" {
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
    br v9, b2, b3(v8)
  b2:
    jump b4(0, v8)
  b4(v10: i32, v11: i32):
    v12: i32 = add v11, v10
    v13: i32 = add v10, 1
    v14: i1 = icmp.slt v13, v6
    br v14, b5, b6(v12)
  b5:
    jump b4(v13, v12)
  b6(v15: i32):
    v16: i32 = sub v15, v7
    v17: i32 = add v16, v7
    v18: i32 = add v7, 1
    v19: i32 = sub v17, v7
    v20: i32 = sub v19, v2
    v21: i32 = add v20, v7
    v22: i32 = mul v21, 1
    jump b1(v18, v22)
  b3(v23: i32):
    v24: i1 = icmp.eq v6, 3:i32
    v25: i32 = sub v23, 2
    v26: i32 = select v24, v25, v23
    store v26 to v5 align 4
    return
  }
}

; output: coherence_versions, divergent_loops, linearize
; kernel "nested" {
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
;     jump b7(0, 0)
;   b7(v32: i32, v33: i32):
;     v34: i1 = icmp.slt v32, v6
;     v49: i1 = xor v34, true
;     v50: i1 = any v49
;     br v50, b12(v32, v33), b8
;   b8:
;     jump b13(0, v33)
;   b13(v53: i32, v54: i32):
;     v55: i32 = add v54, v53
;     v56: i32 = add v53, 1
;     v57: i1 = icmp.slt v56, v6
;     v58: i1 = xor v57, true
;     v59: i1 = any v58
;     br v59, b15(v57, v56, v55), b14
;   b14:
;     jump b13(v56, v55)
;   b15(v61: i1, v62: i32, v63: i32):
;     v91: i1 = xor v61, true
;     jump b16
;   b16 mask v61:
;     jump b19(v62, v63, true, 0)
;   b19(v35: i32, v36: i32, v64: i1, v65: i32) mask v61:
;     v71: i1 = any v64
;     br v71, b20, b22
;   b20 mask v61:
;     v86: i1 = and v61, v64
;     jump b9
;   b9 mask v86:
;     v37: i32 = add v36, v35
;     v38: i32 = add v35, 1
;     v39: i1 = icmp.slt v38, v6
;     v87: i1 = and v86, v39
;     v88: i1 = xor v39, true
;     v89: i1 = and v86, v88
;     v90: i32 = select v89, v37, v65
;     jump b10
;   b10 mask v87:
;     jump b21
;   b21 mask v61:
;     jump b19(v38, v37, v87, v90)
;   b22 mask v61:
;     jump b17(v65)
;   b17(v60: i32) mask v61:
;     v92: i32 = select v61, v60, v63
;     jump b18
;   b18 mask v91:
;     jump b11
;   b11:
;     v41: i32 = sub v92, v32
;     v42: i32 = add v41, v32
;     v43: i32 = add v32, 1
;     v44: i32 = sub v42, v32
;     v45: i32 = sub v44, v2
;     v46: i32 = add v45, v32
;     v47: i32 = mul v46, 1
;     jump b7(v43, v47)
;   b12(v51: i32, v52: i32):
;     jump b27(v51, v52, true, 0)
;   b27(v7: i32, v8: i32, v79: i1, v80: i32):
;     v85: i1 = any v79
;     br v85, b28, b30
;   b28:
;     jump b1
;   b1 mask v79:
;     v9: i1 = icmp.slt v7, v6
;     v93: i1 = and v79, v9
;     v99: i1 = xor v9, true
;     v100: i1 = and v79, v99
;     v101: i32 = select v100, v8, v80
;     jump b2
;   b2 mask v93:
;     jump b23(0, v8, true, 0)
;   b23(v10: i32, v11: i32, v72: i1, v73: i32) mask v93:
;     v78: i1 = any v72
;     br v78, b24, b26
;   b24 mask v93:
;     v94: i1 = and v93, v72
;     jump b4
;   b4 mask v94:
;     v12: i32 = add v11, v10
;     v13: i32 = add v10, 1
;     v14: i1 = icmp.slt v13, v6
;     v95: i1 = and v94, v14
;     v96: i1 = xor v14, true
;     v97: i1 = and v94, v96
;     v98: i32 = select v97, v12, v73
;     jump b5
;   b5 mask v95:
;     jump b25
;   b25 mask v93:
;     jump b23(v13, v12, v95, v98)
;   b26 mask v93:
;     jump b6(v73)
;   b6(v15: i32) mask v93:
;     v16: i32 = sub v15, v7
;     v17: i32 = add v16, v7
;     v18: i32 = add v7, 1
;     v19: i32 = sub v17, v7
;     v20: i32 = sub v19, v2
;     v21: i32 = add v20, v7
;     v22: i32 = mul v21, 1
;     jump b29
;   b29:
;     jump b27(v18, v22, v93, v101)
;   b30:
;     jump b3(v80)
;   b3(v23: i32):
;     v24: i1 = icmp.eq v6, 3:i32
;     v25: i32 = sub v23, 2
;     v26: i32 = select v24, v25, v23
;     store v26 to v5 align 4
;     return
;   }
; }
