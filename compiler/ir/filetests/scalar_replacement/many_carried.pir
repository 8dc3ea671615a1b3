; test: scalar_replacement
; test: run
; launch: apart
; stage: normalized
; No loop carries more than eight values more: two of the ten are loaded again.
; run: k([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]:i32, [0]:i32, 2:i32) global=1 local=1 => [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]:i32, [12282]:i32

kernel "k" {
  args 24
  param "a" pointer.global "int*" size 8 align 8 offset 0
  param "o" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: ptr.global = ptradd v1, v4
    jump b1(0:i32, 0:i32)
  b1(v7: i32, v20: i32):
    v8: i64 = sext v7
    v9: i64 = shl v8, 2
    v10: ptr.global = ptradd v5, v9
    v31: i32 = load v10 + 4 align 4
    v51: i32 = add v20, v31
    v32: i32 = load v10 + 8 align 4
    v52: i32 = add v51, v32
    v33: i32 = load v10 + 12 align 4
    v53: i32 = add v52, v33
    v34: i32 = load v10 + 16 align 4
    v54: i32 = add v53, v34
    v35: i32 = load v10 + 20 align 4
    v55: i32 = add v54, v35
    v36: i32 = load v10 + 24 align 4
    v56: i32 = add v55, v36
    v37: i32 = load v10 + 28 align 4
    v57: i32 = add v56, v37
    v38: i32 = load v10 + 32 align 4
    v58: i32 = add v57, v38
    v39: i32 = load v10 + 36 align 4
    v59: i32 = add v58, v39
    v40: i32 = load v10 + 40 align 4
    v60: i32 = add v59, v40
    v41: i32 = load v10 + 44 align 4
    v61: i32 = add v60, v41
    v15: i32 = add v61, 0:i32
    v17: i32 = add.nsw v7, 1
    v18: i1 = icmp.slt v17, v2
    br v18, b3, b2(v15)
  b3:
    jump b1(v17, v15)
  b2(v19: i32):
    store v19 to v6 align 4
    return
  }
}

; output: scalar_replacement
; kernel "k" {
;   args 24
;   param "a" pointer.global "int*" size 8 align 8 offset 0
;   param "o" pointer.global "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: ptr.global = ptradd v1, v4
;     v64: i64 = mul v3, 4
;     v65: ptr.global = ptradd v0, v64
;     v66: i32 = load v65 + 4 align 4
;     v68: i64 = mul v3, 4
;     v69: ptr.global = ptradd v0, v68
;     v70: i32 = load v69 + 8 align 4
;     v72: i64 = mul v3, 4
;     v73: ptr.global = ptradd v0, v72
;     v74: i32 = load v73 + 12 align 4
;     v76: i64 = mul v3, 4
;     v77: ptr.global = ptradd v0, v76
;     v78: i32 = load v77 + 16 align 4
;     v80: i64 = mul v3, 4
;     v81: ptr.global = ptradd v0, v80
;     v82: i32 = load v81 + 20 align 4
;     v84: i64 = mul v3, 4
;     v85: ptr.global = ptradd v0, v84
;     v86: i32 = load v85 + 24 align 4
;     v88: i64 = mul v3, 4
;     v89: ptr.global = ptradd v0, v88
;     v90: i32 = load v89 + 28 align 4
;     v92: i64 = mul v3, 4
;     v93: ptr.global = ptradd v0, v92
;     v94: i32 = load v93 + 32 align 4
;     jump b1(0, 0, v66, v70, v74, v78, v82, v86, v90, v94)
;   b1(v7: i32, v20: i32, v62: i32, v67: i32, v71: i32, v75: i32, v79: i32, v83: i32, v87: i32, v91: i32):
;     v8: i64 = sext v7
;     v9: i64 = shl v8, 2
;     v10: ptr.global = ptradd v5, v9
;     v51: i32 = add v20, v62
;     v52: i32 = add v51, v67
;     v53: i32 = add v52, v71
;     v54: i32 = add v53, v75
;     v55: i32 = add v54, v79
;     v56: i32 = add v55, v83
;     v57: i32 = add v56, v87
;     v58: i32 = add v57, v91
;     v39: i32 = load v10 + 36 align 4
;     v59: i32 = add v58, v39
;     v40: i32 = load v10 + 40 align 4
;     v60: i32 = add v59, v40
;     v41: i32 = load v10 + 44 align 4
;     v61: i32 = add v60, v41
;     v15: i32 = add v61, 0
;     v17: i32 = add.nsw v7, 1
;     v18: i1 = icmp.slt v17, v2
;     br v18, b3, b2(v15)
;   b3:
;     jump b1(v17, v15, v67, v71, v75, v79, v83, v87, v91, v39)
;   b2(v19: i32):
;     store v19 to v6 align 4
;     return
;   }
; }
