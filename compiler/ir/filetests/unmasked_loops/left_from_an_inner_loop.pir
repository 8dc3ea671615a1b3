; test: versions
; test: run
; test: coherence_versions, divergent_loops, linearize
; passes: -all,unmasked_loops=always,coherent_branches=always
; stage: normalized
; Lanes leave both loops at once.
; run: left_from_an_inner_loop([1, 3, 0, 2]:i32, 2:i32, 0:i32) global=4 local=4 => [1, 3, 0, 2]:i32

kernel "left_from_an_inner_loop" {
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
  b1(v7: i32): ; version: lanes leave it from code that some of them run
    jump b2(v7, 0)
  b2(v8: i32, v9: i32): ; version: not all lanes enter it together
    v10: i1 = icmp.eq v8, v6
    br v10, b3(v8), b4 ; copies: then none, else none
  b4:
    v11: i32 = add v8, 1
    v12: i32 = add v9, 1
    v13: i1 = icmp.slt v12, v1
    br v13, b5, b6(v11)
  b5:
    jump b2(v11, v12)
  b6(v14: i32):
    jump b1(v14)
  b3(v15: i32):
    store v15 to v5 align 4
    return
  }
}

; output: coherence_versions, divergent_loops, linearize
; kernel "left_from_an_inner_loop" {
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
;     jump b12(0, true, 0)
;   b12(v7: i32, v33: i1, v34: i32):
;     v38: i1 = any v33
;     br v38, b13, b15
;   b13:
;     jump b1
;   b1 mask v33:
;     jump b7(v7, 0, true, false, 0, 0)
;   b7(v8: i32, v9: i32, v19: i1, v20: i1, v21: i32, v22: i32) mask v33:
;     v31: i1 = any v19
;     br v31, b8, b10
;   b8 mask v33:
;     v39: i1 = and v33, v19
;     jump b2
;   b2 mask v39:
;     v10: i1 = icmp.eq v8, v6
;     v40: i1 = xor v10, true
;     v41: i1 = and v39, v40
;     v47: i1 = and v39, v10
;     v48: i32 = select v47, v8, v22
;     jump b4
;   b4 mask v41:
;     v11: i32 = add v8, 1
;     v12: i32 = add v9, 1
;     v13: i1 = icmp.slt v12, v1
;     v43: i1 = xor v13, true
;     v44: i1 = and v41, v43
;     v45: i1 = or v20, v44
;     v46: i32 = select v44, v11, v21
;     v53: i1 = any v13
;     br v53, b5, b9(false)
;   b5 mask v41:
;     jump b9(v41)
;   b9(v42: i1) mask v33:
;     jump b7(v11, v12, v42, v45, v46, v48)
;   b10 mask v33:
;     v49: i1 = and v33, v20
;     v50: i1 = xor v20, true
;     v51: i1 = and v33, v50
;     v52: i32 = select v51, v22, v34
;     jump b6(v21)
;   b6(v14: i32) mask v49:
;     jump b14
;   b14:
;     jump b12(v14, v49, v52)
;   b15:
;     jump b11(v34)
;   b11(v32: i32):
;     jump b3(v32)
;   b3(v15: i32):
;     store v15 to v5 align 4
;     return
;   }
; }
