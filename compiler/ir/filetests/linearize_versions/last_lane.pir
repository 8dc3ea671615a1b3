; test: loop_profile, coherence_versions, divergent_loops, linearize
; test: run
; stage: normalized
; loops: counted(100,1600,1000,1100)
; The last lane in the loop runs the rest of it alone; those that have left wait.
; run: last_lane([11, 2, 13, 4]:i32) global=4 local=4 => [21, 2, 46, 4]:i32
; run: last_lane([12, 12, 13, 10]:i32) global=4 local=4 => [33, 33, 46, 10]:i32
; run: last_lane([30, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 20]:i32) global=18 local=18 => [420, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 165]:i32

kernel "last_lane" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.global_id 0
    v2: i64 = shl v1, 2
    v3: ptr.global = ptradd v0, v2
    v4: i32 = load v3 align 4
    jump b1(v4, 0)
  b1(v5: i32, v6: i32):
    v7: i32 = add v6, v5
    v8: i32 = add v5, -1
    v9: i1 = icmp.sgt v8, 9:i32
    br v9, b2, b3(v7)
  b2:
    jump b1(v8, v7)
  b3(v10: i32):
    store v10 to v3 align 4
    return
  }
}

; output: loop_profile, coherence_versions, divergent_loops, linearize
; kernel "last_lane" {
;   args 8
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   input value(0, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global):
;     v1: i64 = query.global_id 0
;     v2: i64 = shl v1, 2
;     v3: ptr.global = ptradd v0, v2
;     v4: i32 = load v3 align 4
;     jump b15(v4, 0)
;   b15(v46: i32, v47: i32):
;     v48: i64 = ballot true
;     v49: i64 = popcount v48
;     v50: i1 = icmp.ule v49, 1:i64
;     br v50, b22(v46, v47), b16(v46, v47)
;   b16(v51: i32, v52: i32):
;     v53: i32 = add v52, v51
;     v54: i32 = add v51, -1
;     v55: i1 = icmp.sgt v54, 9:i32
;     v56: i1 = xor v55, true
;     v57: i1 = any v56
;     br v57, b18(v55, v54, v53), b17
;   b17:
;     jump b15(v54, v53)
;   b22(v64: i32, v65: i32):
;     jump b10(true, v64, v65, 0)
;   b18(v61: i1, v62: i32, v63: i32):
;     v97: i1 = xor v61, true
;     jump b19
;   b19 mask v61:
;     jump b24(v62, v63, true, false, 0, 0, 0)
;   b24(v17: i32, v18: i32, v66: i1, v67: i1, v68: i32, v69: i32, v70: i32) mask v61:
;     v79: i1 = any v66
;     br v79, b25, b27
;   b25 mask v61:
;     v81: i1 = and v61, v66
;     jump b9
;   b9 mask v81:
;     v20: i64 = ballot true
;     v21: i64 = popcount v20
;     v23: i1 = icmp.ule v21, 1:i64
;     v86: i1 = and v81, v23
;     v87: i1 = or v67, v86
;     v88: i32 = select v86, v17, v68
;     v89: i32 = select v86, v18, v69
;     v107: i1 = any v23
;     br v107, b26(0, 0, false, v70), b1(v17, v18)
;   b1(v5: i32, v6: i32) mask v81:
;     v7: i32 = add v6, v5
;     v8: i32 = add v5, -1
;     v9: i1 = icmp.sgt v8, 9:i32
;     v82: i1 = and v81, v9
;     v90: i1 = xor v9, true
;     v91: i1 = and v81, v90
;     v92: i32 = select v91, v7, v70
;     jump b2
;   b2 mask v82:
;     jump b26(v8, v7, v82, v92)
;   b26(v83: i32, v84: i32, v85: i1, v93: i32) mask v61:
;     jump b24(v83, v84, v85, v87, v88, v89, v93)
;   b27 mask v61:
;     v94: i1 = and v61, v67
;     v95: i1 = xor v67, true
;     v96: i1 = and v61, v95
;     jump b21(v68, v69)
;   b21(v59: i32, v60: i32) mask v94:
;     jump b28
;   b28 mask v96:
;     jump b20(v70)
;   b20(v58: i32) mask v96:
;     v99: i32 = select v96, v58, v63
;     jump b23
;   b23 mask v97:
;     v98: i1 = or v96, v97
;     jump b8
;   b8 mask v98:
;     v103: i32 = select v98, v99, 0
;     jump b10(v94, v59, v60, v103)
;   b10(v100: i1, v101: i32, v102: i32, v104: i32) mask v100:
;     v24: i1 = any true
;     br v24, b11, b12
;   b11 mask v100:
;     v25: i64 = ballot true
;     jump b4(v25, 0)
;   b4(v26: i64, v27: i32) mask v100:
;     v28: i64 = ctz v26
;     v29: i32 = lane_of v4, v28
;     v30: i32 = lane_of v101, v28
;     v31: i32 = lane_of v102, v28
;     jump b13(v30, v31)
;   b13(v32: i32, v33: i32) mask v100:
;     v34: i32 = add v33, v32
;     v35: i32 = add v32, -1
;     v36: i1 = icmp.sgt v35, 9:i32
;     v108: i1 = any v36
;     br v108, b14, b5(v34)
;   b14 mask v100:
;     jump b13(v35, v34)
;   b5(v37: i32) mask v100:
;     v38: i32 = put v27, v28, v37
;     v40: i64 = add v26, -1
;     v41: i64 = and v26, v40
;     v42: i1 = icmp.ne v41, 0:i64
;     v109: i1 = any v42
;     br v109, b6, b7(v38)
;   b6 mask v100:
;     jump b4(v41, v38)
;   b7(v43: i32) mask v100:
;     v105: i32 = select v100, v43, v104
;     jump b3(v105)
;   b12 mask v100:
;     jump b3(v104)
;   b3(v106: i32):
;     store v106 to v3 align 4
;     return
;   }
; }
