; test: loop_profile, coherence_versions
; test: run
; stage: normalized
; loops: counted(100,1600,1000,1100)
; Of 16 lanes hardly more than one was at work in an iteration: the last one in the loop runs the rest of it alone.
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

; output: loop_profile, coherence_versions
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
;   b1(v5: i32, v6: i32):
;     v7: i32 = add v6, v5
;     v8: i32 = add v5, -1
;     v9: i1 = icmp.sgt v8, 9:i32
;     br v9, b2, b20(v7)
;   b2:
;     jump b9(v8, v7)
;   b3(v10: i32):
;     store v10 to v3 align 4
;     return
;   b4(v26: i64, v27: i32):
;     v28: i64 = ctz v26
;     v29: i32 = lane_of v4, v28
;     v30: i32 = lane_of v44, v28
;     v31: i32 = lane_of v45, v28
;     jump b13(v30, v31)
;   b5(v37: i32):
;     v38: i32 = put v27, v28, v37
;     v40: i64 = add v26, -1
;     v41: i64 = and v26, v40
;     v42: i1 = icmp.ne v41, 0:i64
;     br v42, b6, b7(v38)
;   b6:
;     jump b4(v41, v38)
;   b7(v43: i32):
;     jump b3(v43)
;   b8(v16: i32):
;     jump b3(v16)
;   b9(v17: i32, v18: i32):
;     v20: i64 = ballot true
;     v21: i64 = popcount v20
;     v23: i1 = icmp.ule v21, 1:i64
;     br v23, b21(v17, v18), b1(v17, v18)
;   b10(v44: i32, v45: i32):
;     v24: i1 = any true
;     br v24, b11, b12
;   b11:
;     v25: i64 = ballot true
;     jump b4(v25, 0)
;   b12:
;     jump b3(0)
;   b13(v32: i32, v33: i32):
;     v34: i32 = add v33, v32
;     v35: i32 = add v32, -1
;     v36: i1 = icmp.sgt v35, 9:i32
;     br v36, b14, b5(v34)
;   b14:
;     jump b13(v35, v34)
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
;   b18(v61: i1, v62: i32, v63: i32):
;     br v61, b19, b23
;   b19:
;     jump b9(v62, v63)
;   b20(v58: i32):
;     jump b8(v58)
;   b21(v59: i32, v60: i32):
;     jump b10(v59, v60)
;   b22(v64: i32, v65: i32):
;     jump b10(v64, v65)
;   b23:
;     jump b8(v63)
;   }
; }
