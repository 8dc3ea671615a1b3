; test: partial_unroll
; test: run
; stage: normalized
; Chains that stay one behind the other: the first is short; the second has volatile accesses; the third runs three times,
; which is less than as many in turn; the fourth writes what the next iteration reads.
; run: refused_chains([0.0]:f32, [1.0 x 18]:f32) global=1 local=1 => _, [51.0, 71.0, 91.0, 111.0, 131.0, 151.0, 171.0, 191.0, 211.0, 1.0, 31.0, 1.0, 31.0, 1.0, 31.0, 1.0, 1.0, 1.0]:f32

kernel "refused_chains" {
  args 16
  param "a" pointer.global "float*" size 8 align 8 offset 0
  param "out" pointer.global "float*" size 8 align 8 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  region r0 {
  b0(v0: ptr.global, v1: ptr.global):
    v3: i64 = query.global_id 0
    v4: i64 = mul.nsw v3, 4
    jump b1(0)
  b1(v5: i64):
    v6: i64 = mul.nsw v5, 8
    v7: i64 = add.nsw v6, v4
    v8: ptr.global = ptradd.inbounds v1, v7
    v9: f32 = load v8 align 4
    v10: f32 = fadd v9, 1.0
    v11: f32 = fadd v10, 1.0
    v12: f32 = fadd v11, 1.0
    v13: f32 = fadd v12, 1.0
    v14: f32 = fadd v13, 1.0
    v15: f32 = fadd v14, 1.0
    v16: f32 = fadd v15, 1.0
    v17: f32 = fadd v16, 1.0
    v18: f32 = fadd v17, 1.0
    v19: f32 = fadd v18, 1.0
    store v19 to v8 align 4
    v20: i64 = add.nsw v5, 1
    v21: i1 = icmp.slt v20, 8:i64
    br v21, b2, b3
  b2:
    jump b1(v20)
  b3:
    jump b4(0)
  b4(v22: i64):
    v23: i64 = mul.nsw v22, 8
    v24: i64 = add.nsw v23, v4
    v25: ptr.global = ptradd.inbounds v1, v24
    v26: f32 = load.volatile v25 align 4
    v27: f32 = fadd v26, 1.0
    v28: f32 = fadd v27, 1.0
    v29: f32 = fadd v28, 1.0
    v30: f32 = fadd v29, 1.0
    v31: f32 = fadd v30, 1.0
    v32: f32 = fadd v31, 1.0
    v33: f32 = fadd v32, 1.0
    v34: f32 = fadd v33, 1.0
    v35: f32 = fadd v34, 1.0
    v36: f32 = fadd v35, 1.0
    v37: f32 = fadd v36, 1.0
    v38: f32 = fadd v37, 1.0
    v39: f32 = fadd v38, 1.0
    v40: f32 = fadd v39, 1.0
    v41: f32 = fadd v40, 1.0
    v42: f32 = fadd v41, 1.0
    v43: f32 = fadd v42, 1.0
    v44: f32 = fadd v43, 1.0
    v45: f32 = fadd v44, 1.0
    v46: f32 = fadd v45, 1.0
    store v46 to v25 align 4
    v47: i64 = add.nsw v22, 1
    v48: i1 = icmp.slt v47, 8:i64
    br v48, b5, b6
  b5:
    jump b4(v47)
  b6:
    jump b7(0)
  b7(v49: i64):
    v50: i64 = mul.nsw v49, 8
    v51: i64 = add.nsw v50, v4
    v52: ptr.global = ptradd.inbounds v1, v51
    v53: f32 = load v52 align 4
    v54: f32 = fadd v53, 1.0
    v55: f32 = fadd v54, 1.0
    v56: f32 = fadd v55, 1.0
    v57: f32 = fadd v56, 1.0
    v58: f32 = fadd v57, 1.0
    v59: f32 = fadd v58, 1.0
    v60: f32 = fadd v59, 1.0
    v61: f32 = fadd v60, 1.0
    v62: f32 = fadd v61, 1.0
    v63: f32 = fadd v62, 1.0
    v64: f32 = fadd v63, 1.0
    v65: f32 = fadd v64, 1.0
    v66: f32 = fadd v65, 1.0
    v67: f32 = fadd v66, 1.0
    v68: f32 = fadd v67, 1.0
    v69: f32 = fadd v68, 1.0
    v70: f32 = fadd v69, 1.0
    v71: f32 = fadd v70, 1.0
    v72: f32 = fadd v71, 1.0
    v73: f32 = fadd v72, 1.0
    store v73 to v52 align 4
    v74: i64 = add.nsw v49, 1
    v75: i1 = icmp.slt v74, 3:i64
    br v75, b8, b9
  b8:
    jump b7(v74)
  b9:
    jump b10(0)
  b10(v76: i64):
    v77: i64 = mul.nsw v76, 4
    v78: i64 = add.nsw v77, v4
    v79: ptr.global = ptradd.inbounds v1, v78
    v80: f32 = load v79 align 4
    v81: f32 = fadd v80, 1.0
    v82: f32 = fadd v81, 1.0
    v83: f32 = fadd v82, 1.0
    v84: f32 = fadd v83, 1.0
    v85: f32 = fadd v84, 1.0
    v86: f32 = fadd v85, 1.0
    v87: f32 = fadd v86, 1.0
    v88: f32 = fadd v87, 1.0
    v89: f32 = fadd v88, 1.0
    v90: f32 = fadd v89, 1.0
    v91: f32 = fadd v90, 1.0
    v92: f32 = fadd v91, 1.0
    v93: f32 = fadd v92, 1.0
    v94: f32 = fadd v93, 1.0
    v95: f32 = fadd v94, 1.0
    v96: f32 = fadd v95, 1.0
    v97: f32 = fadd v96, 1.0
    v98: f32 = fadd v97, 1.0
    v99: f32 = fadd v98, 1.0
    v100: f32 = fadd v99, 1.0
    store v100 to v79 + 4 align 4
    v101: i64 = add.nsw v76, 1
    v102: i1 = icmp.slt v101, 8:i64
    br v102, b11, b12
  b11:
    jump b10(v101)
  b12:
    return
  }
}

; output: partial_unroll
; kernel "refused_chains" {
;   args 16
;   param "a" pointer.global "float*" size 8 align 8 offset 0
;   param "out" pointer.global "float*" size 8 align 8 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global):
;     v3: i64 = query.global_id 0
;     v4: i64 = mul.nsw v3, 4
;     jump b1(0)
;   b1(v5: i64):
;     v6: i64 = mul.nsw v5, 8
;     v7: i64 = add.nsw v6, v4
;     v8: ptr.global = ptradd.inbounds v1, v7
;     v9: f32 = load v8 align 4
;     v10: f32 = fadd v9, 1.0
;     v11: f32 = fadd v10, 1.0
;     v12: f32 = fadd v11, 1.0
;     v13: f32 = fadd v12, 1.0
;     v14: f32 = fadd v13, 1.0
;     v15: f32 = fadd v14, 1.0
;     v16: f32 = fadd v15, 1.0
;     v17: f32 = fadd v16, 1.0
;     v18: f32 = fadd v17, 1.0
;     v19: f32 = fadd v18, 1.0
;     store v19 to v8 align 4
;     v20: i64 = add.nsw v5, 1
;     v21: i1 = icmp.slt v20, 8:i64
;     br v21, b2, b3
;   b2:
;     jump b1(v20)
;   b3:
;     jump b4(0)
;   b4(v22: i64):
;     v23: i64 = mul.nsw v22, 8
;     v24: i64 = add.nsw v23, v4
;     v25: ptr.global = ptradd.inbounds v1, v24
;     v26: f32 = load.volatile v25 align 4
;     v27: f32 = fadd v26, 1.0
;     v28: f32 = fadd v27, 1.0
;     v29: f32 = fadd v28, 1.0
;     v30: f32 = fadd v29, 1.0
;     v31: f32 = fadd v30, 1.0
;     v32: f32 = fadd v31, 1.0
;     v33: f32 = fadd v32, 1.0
;     v34: f32 = fadd v33, 1.0
;     v35: f32 = fadd v34, 1.0
;     v36: f32 = fadd v35, 1.0
;     v37: f32 = fadd v36, 1.0
;     v38: f32 = fadd v37, 1.0
;     v39: f32 = fadd v38, 1.0
;     v40: f32 = fadd v39, 1.0
;     v41: f32 = fadd v40, 1.0
;     v42: f32 = fadd v41, 1.0
;     v43: f32 = fadd v42, 1.0
;     v44: f32 = fadd v43, 1.0
;     v45: f32 = fadd v44, 1.0
;     v46: f32 = fadd v45, 1.0
;     store v46 to v25 align 4
;     v47: i64 = add.nsw v22, 1
;     v48: i1 = icmp.slt v47, 8:i64
;     br v48, b5, b6
;   b5:
;     jump b4(v47)
;   b6:
;     jump b7(0)
;   b7(v49: i64):
;     v50: i64 = mul.nsw v49, 8
;     v51: i64 = add.nsw v50, v4
;     v52: ptr.global = ptradd.inbounds v1, v51
;     v53: f32 = load v52 align 4
;     v54: f32 = fadd v53, 1.0
;     v55: f32 = fadd v54, 1.0
;     v56: f32 = fadd v55, 1.0
;     v57: f32 = fadd v56, 1.0
;     v58: f32 = fadd v57, 1.0
;     v59: f32 = fadd v58, 1.0
;     v60: f32 = fadd v59, 1.0
;     v61: f32 = fadd v60, 1.0
;     v62: f32 = fadd v61, 1.0
;     v63: f32 = fadd v62, 1.0
;     v64: f32 = fadd v63, 1.0
;     v65: f32 = fadd v64, 1.0
;     v66: f32 = fadd v65, 1.0
;     v67: f32 = fadd v66, 1.0
;     v68: f32 = fadd v67, 1.0
;     v69: f32 = fadd v68, 1.0
;     v70: f32 = fadd v69, 1.0
;     v71: f32 = fadd v70, 1.0
;     v72: f32 = fadd v71, 1.0
;     v73: f32 = fadd v72, 1.0
;     store v73 to v52 align 4
;     v74: i64 = add.nsw v49, 1
;     v75: i1 = icmp.slt v74, 3:i64
;     br v75, b8, b9
;   b8:
;     jump b7(v74)
;   b9:
;     jump b10(0)
;   b10(v76: i64):
;     v77: i64 = mul.nsw v76, 4
;     v78: i64 = add.nsw v77, v4
;     v79: ptr.global = ptradd.inbounds v1, v78
;     v80: f32 = load v79 align 4
;     v81: f32 = fadd v80, 1.0
;     v82: f32 = fadd v81, 1.0
;     v83: f32 = fadd v82, 1.0
;     v84: f32 = fadd v83, 1.0
;     v85: f32 = fadd v84, 1.0
;     v86: f32 = fadd v85, 1.0
;     v87: f32 = fadd v86, 1.0
;     v88: f32 = fadd v87, 1.0
;     v89: f32 = fadd v88, 1.0
;     v90: f32 = fadd v89, 1.0
;     v91: f32 = fadd v90, 1.0
;     v92: f32 = fadd v91, 1.0
;     v93: f32 = fadd v92, 1.0
;     v94: f32 = fadd v93, 1.0
;     v95: f32 = fadd v94, 1.0
;     v96: f32 = fadd v95, 1.0
;     v97: f32 = fadd v96, 1.0
;     v98: f32 = fadd v97, 1.0
;     v99: f32 = fadd v98, 1.0
;     v100: f32 = fadd v99, 1.0
;     store v100 to v79 + 4 align 4
;     v101: i64 = add.nsw v76, 1
;     v102: i1 = icmp.slt v101, 8:i64
;     br v102, b11, b12
;   b11:
;     jump b10(v101)
;   b12:
;     return
;   }
; }
