; test: divergent_loops, boscc, linearize
; test: run
; stage: normalized
; The same arm, of which some lanes leave the loop (`break`).
; run: break([1, 60, 3, 20]:i32, 0:i32, 0:i32) global=4 local=4 => [1001, 60, 1003, 1120]:i32

kernel "break" {
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
    v7: i32 = or v1, 1
    jump b5(0:i32, v6)
  b5(v12: i32, v13: i32):
    v14: i1 = icmp.slt v12, 3:i32
    br v14, b6, b10(v13)
  b10(v18: i32):
    jump b7(v18)
  b6:
    v8: i1 = icmp.sgt v13, 9:i32
    br v8, b1, b9
  b9:
    jump b2(v13)
  b1:
    v20: i32 = sdiv v13, v7
    v21: i32 = sdiv v20, v7
    v22: i32 = sdiv v21, v7
    v23: i32 = sdiv v22, v7
    v30: i1 = icmp.sgt v23, 49:i32
    v31: i32 = add v23, 100
    br v30, b8(v23), b12
  b12:
    jump b2(v31)
  b2(v9: i32):
    v10: i32 = add v9, 1000
    jump b4(v10)
  b4(v15: i32):
    v16: i32 = add v12, 1
    jump b5(v16, v15)
  b8(v19: i32):
    jump b7(v19)
  b7(v17: i32):
    store v17 to v5 align 4
    return
  }
}

; output: divergent_loops, boscc, linearize
; kernel "break" {
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
;     v7: i32 = or v1, 1
;     jump b13(0, v6, true, false, 0, 0)
;   b13(v12: i32, v13: i32, v33: i1, v34: i1, v35: i32, v36: i32):
;     v45: i1 = any v33
;     br v45, b14, b16
;   b14:
;     jump b5
;   b5 mask v33:
;     v14: i1 = icmp.slt v12, 3:i32
;     v68: i1 = xor v14, true
;     v69: i1 = and v33, v68
;     v70: i32 = select v69, v13, v36
;     v73: i1 = any v14
;     br v73, b6, b15(0, 0, false, v34, v35)
;   b6 mask v33:
;     v8: i1 = icmp.sgt v13, 9:i32
;     v48: i1 = and v33, v8
;     v51: i1 = xor v8, true
;     v52: i1 = and v33, v51
;     jump b18
;   b18 mask v48:
;     v47: i1 = any true
;     br v47, b1, b19
;   b1 mask v48:
;     v20: i32 = sdiv v13, v7
;     v21: i32 = sdiv v20, v7
;     v22: i32 = sdiv v21, v7
;     v23: i32 = sdiv v22, v7
;     v30: i1 = icmp.sgt v23, 49:i32
;     v31: i32 = add v23, 100
;     v49: i1 = xor v30, true
;     v50: i1 = and v48, v49
;     v61: i1 = and v48, v30
;     v62: i1 = or v34, v61
;     v65: i32 = select v61, v23, v35
;     jump b12
;   b12 mask v50:
;     v55: i32 = select v50, v31, 0
;     jump b9(v50, v55, v62, v65)
;   b19 mask v48:
;     jump b20
;   b20 mask false:
;     jump b21
;   b21 mask v48:
;     jump b9(v48, 0, v34, v35)
;   b9(v53: i1, v56: i32, v63: i1, v66: i32) mask v52:
;     v54: i1 = or v53, v52
;     v57: i32 = select v52, v13, v56
;     jump b2
;   b2 mask v54:
;     v10: i32 = add v57, 1000
;     jump b4(v10)
;   b4(v15: i32) mask v54:
;     v16: i32 = add v12, 1
;     jump b15(v16, v15, v54, v63, v66)
;   b15(v58: i32, v59: i32, v60: i1, v64: i1, v67: i32):
;     jump b13(v58, v59, v60, v64, v67, v70)
;   b16:
;     v71: i1 = xor v34, true
;     jump b8(v35)
;   b8(v19: i32) mask v34:
;     jump b17
;   b17 mask v71:
;     jump b10(v36)
;   b10(v18: i32) mask v71:
;     v72: i32 = select v71, v18, v19
;     jump b7
;   b7:
;     store v72 to v5 align 4
;     return
;   }
; }
