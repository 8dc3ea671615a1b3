; test: normalize, width_selection, divergence, divergent_loops, trivial_branches, linearize
; test: run
; passes: -loop_gates
; The innermost loop (b7) is left to the loop around it (b3) and out of that one. It may be entered by no lane, so lanes wait in it, and
; which way they left is asked after it: a divergent exit of the loop around, in which lanes have to wait as well.
; run: two_ways_out([0, 1, 2, 3, 5]:i32, [0, 3, 2, 3, 5, 3, 1, 3]:i32) global=5 local=5 => [23, 23, 46, 69, 115]:i32, [0, 3, 2, 3, 5, 3, 1, 3]:i32
; run: two_ways_out([0, 1, 2, 3, 5]:i32, [0, 1, 2, 1, 5, 3, 0, 1]:i32) global=5 local=5 => [59, 59, 118, 177, 295]:i32, [0, 1, 2, 1, 5, 3, 0, 1]:i32

kernel "two_ways_out" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "t" pointer.global "int*" size 8 align 8 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  region r0 {
  b0(v0: ptr.global, v1: ptr.global):
    v2: i64 = query.global_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    v5: i32 = load v4 align 4
    jump b1(0, 0)
  b1(v6: i32, v7: i32):
    jump b3(0, v7)
  b3(v9: i32, v10: i32):
    v11: i32 = and v9, 7
    v12: i64 = zext v11
    v13: i64 = shl v12, 2
    v14: ptr.global = ptradd v1, v13
    v15: i32 = load v14 align 4
    switch v15 [0: b4, 2: b11(v10)] default b5
  b4:
    v16: i32 = add v10, 10
    jump b6(v16)
  b5:
    v17: i32 = add v10, 20
    jump b6(v17)
  b6(v18: i32):
    jump b7(0, v18)
  b7(v19: i32, v20: i32):
    v21: i32 = add v19, 1
    v22: i32 = add v21, v9
    v23: i32 = and v22, 7
    v24: i64 = zext v23
    v25: i64 = shl v24, 2
    v36: ptr.global = ptradd v1, v25
    v26: i32 = load v36 align 4
    v27: i32 = add v20, v26
    switch v26 [5: b12(v27), 1: b11(v27)] default b7(v21, v27)
  b11(v28: i32):
    v29: i32 = add v9, 1
    v30: i1 = icmp.slt v29, 4:i32
    br v30, b3(v29, v28), b13(v28)
  b12(v31: i32):
    jump b13(v31)
  b13(v32: i32):
    v33: i32 = add v6, 1
    v34: i1 = icmp.slt v33, v5
    br v34, b1(v33, v32), b14
  b14:
    store v32 to v4 align 4
    return
  }
}

; output: normalize, width_selection, divergence, divergent_loops, trivial_branches, linearize
; kernel "two_ways_out" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "t" pointer.global "int*" size 8 align 8 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global):
;     v2: i64 = query.global_id 0
;     v3: i64 = shl v2, 2
;     v4: ptr.global = ptradd v0, v3
;     v5: i32 = load v4 align 4
;     jump b23(0, 0, true, 0)
;   b23(v6: i32, v7: i32, v54: i1, v55: i32):
;     v62: i1 = any v54
;     br v62, b24, b26
;   b24:
;     jump b1
;   b1 mask v54:
;     jump b32(0, v7, true, false, 0, 0)
;   b32(v9: i32, v10: i32, v75: i1, v76: i1, v77: i32, v78: i32) mask v54:
;     v85: i1 = any v75
;     br v85, b33, b35
;   b33 mask v54:
;     v87: i1 = and v54, v75
;     jump b3
;   b3 mask v87:
;     v11: i32 = and v9, 7
;     v12: i64 = zext v11
;     v13: i64 = shl v12, 2
;     v14: ptr.global = ptradd v1, v13
;     v15: i32 = load v14 align 4
;     v45: i1 = icmp.eq v15, 0:i32
;     v118: i1 = any v45
;     br v118, b4, b21(v15)
;   b4 mask v87:
;     v16: i32 = add v10, 10
;     jump b6(v16)
;   b21(v46: i32) mask v87:
;     v48: i1 = icmp.eq v46, 2:i32
;     v119: i1 = any v48
;     br v119, b15, b5
;   b15 mask v87:
;     jump b11(v10, v87, v78)
;   b5 mask v87:
;     v17: i32 = add v10, 20
;     jump b6(v17)
;   b6(v18: i32) mask v87:
;     jump b27(0, v18, true, false, 0, 0)
;   b27(v19: i32, v20: i32, v63: i1, v64: i1, v65: i32, v66: i32) mask v87:
;     v73: i1 = any v63
;     br v73, b28, b30
;   b28 mask v87:
;     v88: i1 = and v87, v63
;     jump b7
;   b7 mask v88:
;     v21: i32 = add v19, 1
;     v22: i32 = add v21, v9
;     v23: i32 = and v22, 7
;     v24: i64 = zext v23
;     v25: i64 = shl v24, 2
;     v36: ptr.global = ptradd v1, v25
;     v26: i32 = load v36 align 4
;     v27: i32 = add v20, v26
;     v50: i1 = icmp.eq v26, 5:i32
;     v97: i1 = and v88, v50
;     v98: i32 = select v97, v27, v66
;     v120: i1 = any v50
;     br v120, b29(false, v64, v65), b22(v26, v27)
;   b22(v51: i32, v52: i32) mask v88:
;     v53: i1 = icmp.eq v51, 1:i32
;     v89: i1 = xor v53, true
;     v90: i1 = and v88, v89
;     v92: i1 = and v88, v53
;     v93: i1 = or v64, v92
;     v95: i32 = select v92, v52, v65
;     jump b17
;   b17 mask v90:
;     jump b29(v90, v93, v95)
;   b29(v91: i1, v94: i1, v96: i32) mask v87:
;     jump b27(v21, v27, v91, v94, v96, v98)
;   b30 mask v87:
;     v99: i1 = and v87, v64
;     v106: i1 = xor v64, true
;     v107: i1 = and v87, v106
;     v108: i32 = select v107, v66, v78
;     jump b16(v65)
;   b16(v42: i32) mask v99:
;     jump b11(v42, v99, v108)
;   b11(v28: i32, v100: i1, v109: i32) mask v100:
;     v29: i32 = add v9, 1
;     v30: i1 = icmp.slt v29, 4:i32
;     v101: i1 = and v100, v30
;     v102: i1 = xor v30, true
;     v103: i1 = and v100, v102
;     v104: i1 = or v76, v103
;     v105: i32 = select v103, v28, v77
;     jump b18
;   b18 mask v101:
;     jump b34
;   b34 mask v54:
;     jump b32(v29, v28, v101, v104, v105, v109)
;   b35 mask v54:
;     v110: i1 = and v54, v76
;     v111: i1 = xor v76, true
;     v112: i1 = and v54, v111
;     jump b19(v77)
;   b19(v43: i32) mask v110:
;     jump b36
;   b36 mask v112:
;     jump b31(v78)
;   b31(v74: i32) mask v112:
;     jump b12(v74)
;   b12(v31: i32) mask v112:
;     v113: i32 = select v112, v31, v43
;     jump b13
;   b13 mask v54:
;     v33: i32 = add v6, 1
;     v34: i1 = icmp.slt v33, v5
;     v114: i1 = and v54, v34
;     v115: i1 = xor v34, true
;     v116: i1 = and v54, v115
;     v117: i32 = select v116, v113, v55
;     jump b20
;   b20 mask v114:
;     jump b25
;   b25:
;     jump b23(v33, v113, v114, v117)
;   b26:
;     jump b14(v55)
;   b14(v44: i32):
;     store v44 to v4 align 4
;     return
;   }
; }
