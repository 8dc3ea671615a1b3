; test: partial_unroll
; test: run
; stage: normalized
; Twenty sums, each of the one before, and an iteration of it writes what none of the others reads: operation by operation
; of several iterations.
; run: chains([0.0]:f32, [1.0 x 128]:f32) global=16 local=16 => _, [21.0 x 128]:f32

kernel "chains" {
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
  b1(v6: i64):
    v8: i64 = mul.nsw v6, 64
    v9: i64 = add.nsw v8, v4
    v11: ptr.global = ptradd.inbounds v1, v9
    v12: f32 = load v11 align 4
    v13: f32 = fadd v12, 1.0
    v14: f32 = fadd v13, 1.0
    v15: f32 = fadd v14, 1.0
    v16: f32 = fadd v15, 1.0
    v17: f32 = fadd v16, 1.0
    v18: f32 = fadd v17, 1.0
    v19: f32 = fadd v18, 1.0
    v20: f32 = fadd v19, 1.0
    v21: f32 = fadd v20, 1.0
    v22: f32 = fadd v21, 1.0
    v23: f32 = fadd v22, 1.0
    v24: f32 = fadd v23, 1.0
    v25: f32 = fadd v24, 1.0
    v26: f32 = fadd v25, 1.0
    v27: f32 = fadd v26, 1.0
    v28: f32 = fadd v27, 1.0
    v29: f32 = fadd v28, 1.0
    v30: f32 = fadd v29, 1.0
    v31: f32 = fadd v30, 1.0
    v32: f32 = fadd v31, 1.0
    store v32 to v11 align 4
    v33: i64 = add.nsw v6, 1
    v34: i1 = icmp.slt v33, 8:i64
    br v34, b2, b3
  b2:
    jump b1(v33)
  b3:
    return
  }
}

; output: partial_unroll
; kernel "chains" {
;   args 16
;   param "a" pointer.global "float*" size 8 align 8 offset 0
;   param "out" pointer.global "float*" size 8 align 8 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global):
;     v3: i64 = query.global_id 0
;     v4: i64 = mul.nsw v3, 4
;     v151: i64 = add 0, 1
;     v152: i64 = sub 8, v151
;     v153: i1 = icmp.slt v151, 8:i64
;     v154: i1 = icmp.ugt v152, 2:i64
;     v155: i1 = and v153, v154
;     br v155, b6, b7
;   b1(v6: i64):
;     v8: i64 = mul.nsw v6, 64
;     v9: i64 = add.nsw v8, v4
;     v11: ptr.global = ptradd.inbounds v1, v9
;     v12: f32 = load v11 align 4
;     v13: f32 = fadd v12, 1.0
;     v14: f32 = fadd v13, 1.0
;     v15: f32 = fadd v14, 1.0
;     v16: f32 = fadd v15, 1.0
;     v17: f32 = fadd v16, 1.0
;     v18: f32 = fadd v17, 1.0
;     v19: f32 = fadd v18, 1.0
;     v20: f32 = fadd v19, 1.0
;     v21: f32 = fadd v20, 1.0
;     v22: f32 = fadd v21, 1.0
;     v23: f32 = fadd v22, 1.0
;     v24: f32 = fadd v23, 1.0
;     v25: f32 = fadd v24, 1.0
;     v26: f32 = fadd v25, 1.0
;     v27: f32 = fadd v26, 1.0
;     v28: f32 = fadd v27, 1.0
;     v29: f32 = fadd v28, 1.0
;     v30: f32 = fadd v29, 1.0
;     v31: f32 = fadd v30, 1.0
;     v32: f32 = fadd v31, 1.0
;     store v32 to v11 align 4
;     v33: i64 = add.nsw v6, 1
;     v34: i1 = icmp.slt v33, 8:i64
;     br v34, b2, b8
;   b2:
;     jump b1(v33)
;   b3:
;     return
;   b4(v37: i64):
;     v38: i64 = add.nsw v37, 1
;     v40: i64 = add.nsw v37, 2
;     v42: i64 = add.nsw v37, 3
;     v43: i64 = mul.nsw v37, 64
;     v44: i64 = mul.nsw v38, 64
;     v45: i64 = mul.nsw v40, 64
;     v46: i64 = mul.nsw v42, 64
;     v47: i64 = add.nsw v43, v4
;     v48: i64 = add.nsw v44, v4
;     v49: i64 = add.nsw v45, v4
;     v50: i64 = add.nsw v46, v4
;     v51: ptr.global = ptradd.inbounds v1, v47
;     v52: ptr.global = ptradd.inbounds v1, v48
;     v53: ptr.global = ptradd.inbounds v1, v49
;     v54: ptr.global = ptradd.inbounds v1, v50
;     v55: f32 = load v51 align 4
;     v56: f32 = load v52 align 4
;     v57: f32 = load v53 align 4
;     v58: f32 = load v54 align 4
;     v59: f32 = fadd v55, 1.0
;     v60: f32 = fadd v56, 1.0
;     v61: f32 = fadd v57, 1.0
;     v62: f32 = fadd v58, 1.0
;     v63: f32 = fadd v59, 1.0
;     v64: f32 = fadd v60, 1.0
;     v65: f32 = fadd v61, 1.0
;     v66: f32 = fadd v62, 1.0
;     v67: f32 = fadd v63, 1.0
;     v68: f32 = fadd v64, 1.0
;     v69: f32 = fadd v65, 1.0
;     v70: f32 = fadd v66, 1.0
;     v71: f32 = fadd v67, 1.0
;     v72: f32 = fadd v68, 1.0
;     v73: f32 = fadd v69, 1.0
;     v74: f32 = fadd v70, 1.0
;     v75: f32 = fadd v71, 1.0
;     v76: f32 = fadd v72, 1.0
;     v77: f32 = fadd v73, 1.0
;     v78: f32 = fadd v74, 1.0
;     v79: f32 = fadd v75, 1.0
;     v80: f32 = fadd v76, 1.0
;     v81: f32 = fadd v77, 1.0
;     v82: f32 = fadd v78, 1.0
;     v83: f32 = fadd v79, 1.0
;     v84: f32 = fadd v80, 1.0
;     v85: f32 = fadd v81, 1.0
;     v86: f32 = fadd v82, 1.0
;     v87: f32 = fadd v83, 1.0
;     v88: f32 = fadd v84, 1.0
;     v89: f32 = fadd v85, 1.0
;     v90: f32 = fadd v86, 1.0
;     v91: f32 = fadd v87, 1.0
;     v92: f32 = fadd v88, 1.0
;     v93: f32 = fadd v89, 1.0
;     v94: f32 = fadd v90, 1.0
;     v95: f32 = fadd v91, 1.0
;     v96: f32 = fadd v92, 1.0
;     v97: f32 = fadd v93, 1.0
;     v98: f32 = fadd v94, 1.0
;     v99: f32 = fadd v95, 1.0
;     v100: f32 = fadd v96, 1.0
;     v101: f32 = fadd v97, 1.0
;     v102: f32 = fadd v98, 1.0
;     v103: f32 = fadd v99, 1.0
;     v104: f32 = fadd v100, 1.0
;     v105: f32 = fadd v101, 1.0
;     v106: f32 = fadd v102, 1.0
;     v107: f32 = fadd v103, 1.0
;     v108: f32 = fadd v104, 1.0
;     v109: f32 = fadd v105, 1.0
;     v110: f32 = fadd v106, 1.0
;     v111: f32 = fadd v107, 1.0
;     v112: f32 = fadd v108, 1.0
;     v113: f32 = fadd v109, 1.0
;     v114: f32 = fadd v110, 1.0
;     v115: f32 = fadd v111, 1.0
;     v116: f32 = fadd v112, 1.0
;     v117: f32 = fadd v113, 1.0
;     v118: f32 = fadd v114, 1.0
;     v119: f32 = fadd v115, 1.0
;     v120: f32 = fadd v116, 1.0
;     v121: f32 = fadd v117, 1.0
;     v122: f32 = fadd v118, 1.0
;     v123: f32 = fadd v119, 1.0
;     v124: f32 = fadd v120, 1.0
;     v125: f32 = fadd v121, 1.0
;     v126: f32 = fadd v122, 1.0
;     v127: f32 = fadd v123, 1.0
;     v128: f32 = fadd v124, 1.0
;     v129: f32 = fadd v125, 1.0
;     v130: f32 = fadd v126, 1.0
;     v131: f32 = fadd v127, 1.0
;     v132: f32 = fadd v128, 1.0
;     v133: f32 = fadd v129, 1.0
;     v134: f32 = fadd v130, 1.0
;     v135: f32 = fadd v131, 1.0
;     v136: f32 = fadd v132, 1.0
;     v137: f32 = fadd v133, 1.0
;     v138: f32 = fadd v134, 1.0
;     store v135 to v51 align 4
;     store v136 to v52 align 4
;     store v137 to v53 align 4
;     store v138 to v54 align 4
;     v139: i64 = add.nsw v37, 1
;     v140: i64 = add.nsw v38, 1
;     v141: i64 = add.nsw v40, 1
;     v142: i64 = add.nsw v42, 1
;     v143: i1 = icmp.slt v139, 8:i64
;     v144: i1 = icmp.slt v140, 8:i64
;     v145: i1 = icmp.slt v141, 8:i64
;     v146: i1 = icmp.slt v142, 8:i64
;     v147: i64 = sub 8, v142
;     v148: i1 = icmp.slt v142, 8:i64
;     v149: i1 = icmp.ugt v147, 3:i64
;     v150: i1 = and v148, v149
;     br v150, b9, b5(v146, v142)
;   b5(v157: i1, v158: i64):
;     br v157, b10, b11
;   b6:
;     jump b4(0)
;   b7:
;     jump b12(0)
;   b8:
;     jump b3
;   b9:
;     jump b4(v142)
;   b10:
;     jump b12(v158)
;   b11:
;     jump b3
;   b12(v156: i64):
;     jump b1(v156)
;   }
; }
