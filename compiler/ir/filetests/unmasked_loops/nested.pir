; test: coherence_versions
; passes: -all,unmasked_loops=always
; test: versions
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
  b1(v7: i32, v8: i32): ; version: b1 again, saves 8 of 54
    v9: i1 = icmp.slt v7, v6
    br v9, b2, b3(v8) ; copies: then none, else none
  b2:
    jump b4(0, v8)
  b4(v10: i32, v11: i32): ; version: not all lanes enter it together
    v12: i32 = add v11, v10
    v13: i32 = add v10, 1
    v14: i1 = icmp.slt v13, v6
    br v14, b5, b6(v12) ; copies: then none, else none
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

; output: coherence_versions
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
;   b1(v7: i32, v8: i32):
;     v9: i1 = icmp.slt v7, v6
;     br v9, b2, b3(v8)
;   b2:
;     jump b4(0, v8)
;   b4(v10: i32, v11: i32):
;     v12: i32 = add v11, v10
;     v13: i32 = add v10, 1
;     v14: i1 = icmp.slt v13, v6
;     br v14, b5, b6(v12)
;   b5:
;     jump b4(v13, v12)
;   b6(v15: i32):
;     v16: i32 = sub v15, v7
;     v17: i32 = add v16, v7
;     v18: i32 = add v7, 1
;     v19: i32 = sub v17, v7
;     v20: i32 = sub v19, v2
;     v21: i32 = add v20, v7
;     v22: i32 = mul v21, 1
;     jump b1(v18, v22)
;   b3(v23: i32):
;     v24: i1 = icmp.eq v6, 3:i32
;     v25: i32 = sub v23, 2
;     v26: i32 = select v24, v25, v23
;     store v26 to v5 align 4
;     return
;   b7(v32: i32, v33: i32):
;     v34: i1 = icmp.slt v32, v6
;     v49: i1 = xor v34, true
;     v50: i1 = any v49
;     br v50, b12(v32, v33), b8
;   b8:
;     jump b13(0, v33)
;   b9(v35: i32, v36: i32):
;     v37: i32 = add v36, v35
;     v38: i32 = add v35, 1
;     v39: i1 = icmp.slt v38, v6
;     br v39, b10, b17(v37)
;   b10:
;     jump b9(v38, v37)
;   b11(v40: i32):
;     v41: i32 = sub v40, v32
;     v42: i32 = add v41, v32
;     v43: i32 = add v32, 1
;     v44: i32 = sub v42, v32
;     v45: i32 = sub v44, v2
;     v46: i32 = add v45, v32
;     v47: i32 = mul v46, 1
;     jump b7(v43, v47)
;   b12(v51: i32, v52: i32):
;     jump b1(v51, v52)
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
;     br v61, b16, b18
;   b16:
;     jump b9(v62, v63)
;   b17(v60: i32):
;     jump b11(v60)
;   b18:
;     jump b11(v63)
;   }
; }
