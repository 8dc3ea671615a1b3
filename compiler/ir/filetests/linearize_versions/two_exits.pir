; test: coherence_versions, divergent_loops, linearize
; passes: -all,unmasked_loops=always,coherent_branches=always
; test: run
; stage: normalized
; What is stored before the first exit must not be stored twice, so the rest of the iteration has a copy; the second exit
; is the same for all lanes and stays one.
; run: two_exits([1, 3, 9, 2]:i32, 3:i32, 0:i32) global=4 local=4 => [100, 102, 3, 101]:i32

kernel "two_exits" {
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
    jump b1(0)
  b1(v7: i32):
    store v7 to v5 align 4
    v8: i32 = add v7, 1
    v9: i1 = icmp.eq v8, v6
    br v9, b3(v7), b2
  b2:
    v10: i1 = icmp.sge v8, v1
    br v10, b4(v8), b5
  b5:
    jump b1(v8)
  b3(v12: i32):
    v13: i32 = add v12, 100
    jump b6(v13)
  b4(v14: i32):
    jump b6(v14)
  b6(v15: i32):
    store v15 to v5 align 4
    return
  }
}

; output: coherence_versions, divergent_loops, linearize
; kernel "two_exits" {
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
;     jump b7(0)
;   b7(v19: i32):
;     store v19 to v5 align 4
;     v20: i32 = add v19, 1
;     v21: i1 = icmp.eq v20, v6
;     v25: i1 = any v21
;     br v25, b10(v21, v20, v19), b8
;   b8:
;     v22: i1 = icmp.sge v20, v1
;     br v22, b15(v20), b9
;   b9:
;     jump b7(v20)
;   b10(v28: i1, v29: i32, v31: i32):
;     v44: i1 = xor v28, true
;     jump b16
;   b16 mask v28:
;     jump b11
;   b11 mask v44:
;     v23: i1 = icmp.sge v29, v1
;     v67: i1 = any v23
;     br v67, b17, b12
;   b17 mask v44:
;     jump b3(v28, v31, v44, v29)
;   b12 mask v44:
;     jump b18(v29, true, false, 0, 0)
;   b18(v7: i32, v32: i1, v33: i1, v34: i32, v35: i32) mask v44:
;     v42: i1 = any v32
;     br v42, b19, b21
;   b19 mask v44:
;     v45: i1 = and v44, v32
;     jump b1
;   b1 mask v45:
;     store v7 to v5 align 4
;     v8: i32 = add v7, 1
;     v9: i1 = icmp.eq v8, v6
;     v46: i1 = xor v9, true
;     v47: i1 = and v45, v46
;     v49: i1 = and v45, v9
;     v50: i1 = or v33, v49
;     v51: i32 = select v49, v7, v34
;     jump b2
;   b2 mask v47:
;     v10: i1 = icmp.sge v8, v1
;     v52: i1 = and v47, v10
;     v53: i32 = select v52, v8, v35
;     v68: i1 = any v10
;     br v68, b20(false), b5
;   b5 mask v47:
;     jump b20(v47)
;   b20(v48: i1) mask v44:
;     jump b18(v8, v48, v50, v51, v53)
;   b21 mask v44:
;     v54: i1 = and v44, v33
;     v55: i1 = xor v33, true
;     v56: i1 = and v44, v55
;     jump b13(v34)
;   b13(v26: i32) mask v54:
;     v57: i1 = or v28, v54
;     v59: i32 = select v54, v26, v31
;     jump b22
;   b22 mask v56:
;     jump b14(v35)
;   b14(v27: i32) mask v56:
;     jump b3(v57, v59, v56, v27)
;   b3(v58: i1, v60: i32, v61: i1, v63: i32) mask v58:
;     v13: i32 = add v60, 100
;     jump b4(v61, v63, v13)
;   b15(v30: i32):
;     jump b4(true, v30, 0)
;   b4(v62: i1, v64: i32, v65: i32) mask v62:
;     v66: i32 = select v62, v64, v65
;     jump b6
;   b6:
;     store v66 to v5 align 4
;     return
;   }
; }
