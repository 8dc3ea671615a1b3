; test: versions
; test: run
; test: coherence_versions, divergent_loops, linearize
; passes: -all,unmasked_loops=always,coherent_branches=always
; stage: normalized
; Only in the copy of the arm do all lanes enter the loop, so only there it has a version.
; run: loop_in_an_arm([1, 3, 2, 2]:i32, 7:i32, 0:i32) global=4 local=4 => [8, 24, 16, 16]:i32
; run: loop_in_an_arm([1, 0, 2, 3]:i32, 7:i32, 0:i32) global=4 local=4 => [8, 0, 16, 24]:i32

kernel "loop_in_an_arm" {
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
    v7: i1 = icmp.sgt v6, 0:i32
    br v7, b1, b2 ; copies: then saves 56 of 104, else none
  b1:
    jump b3(0, v6)
  b3(v8: i32, v9: i32): ; version: not all lanes enter it together
    v10: i32 = add v9, v1
    store v10 to v5 align 4
    v11: i32 = add v8, 1
    v12: i1 = icmp.slt v11, v6
    br v12, b4, b5 ; copies: then none, else none
  b4:
    jump b3(v11, v10)
  b5:
    jump b6
  b2:
    jump b6
  b6:
    return
  }
}

; output: coherence_versions, divergent_loops, linearize
; kernel "loop_in_an_arm" {
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
;     v7: i1 = icmp.sgt v6, 0:i32
;     v22: i1 = xor v7, true
;     v23: i1 = any v22
;     br v23, b11, b7
;   b11:
;     v47: i1 = xor v7, true
;     jump b1
;   b1 mask v7:
;     jump b22(0, v6, true)
;   b22(v8: i32, v9: i32, v40: i1) mask v7:
;     v44: i1 = any v40
;     br v44, b23, b25
;   b23 mask v7:
;     v45: i1 = and v7, v40
;     jump b3
;   b3 mask v45:
;     v10: i32 = add v9, v1
;     store v10 to v5 align 4
;     v11: i32 = add v8, 1
;     v12: i1 = icmp.slt v11, v6
;     v46: i1 = and v45, v12
;     jump b4
;   b4 mask v46:
;     jump b24
;   b24 mask v7:
;     jump b22(v11, v10, v46)
;   b25 mask v7:
;     jump b5
;   b5 mask v7:
;     jump b2
;   b2 mask v47:
;     jump b6
;   b7:
;     jump b12(0, v6)
;   b12(v24: i32, v25: i32):
;     v26: i32 = add v25, v1
;     store v26 to v5 align 4
;     v27: i32 = add v24, 1
;     v28: i1 = icmp.slt v27, v6
;     v29: i1 = xor v28, true
;     v30: i1 = any v29
;     br v30, b14(v28, v27, v26), b13
;   b13:
;     jump b12(v27, v26)
;   b14(v31: i1, v32: i32, v33: i32):
;     v50: i1 = xor v31, true
;     jump b15
;   b15 mask v31:
;     jump b18(v32, v33, true)
;   b18(v16: i32, v17: i32, v34: i1) mask v31:
;     v39: i1 = any v34
;     br v39, b19, b21
;   b19 mask v31:
;     v48: i1 = and v31, v34
;     jump b8
;   b8 mask v48:
;     v18: i32 = add v17, v1
;     store v18 to v5 align 4
;     v19: i32 = add v16, 1
;     v20: i1 = icmp.slt v19, v6
;     v49: i1 = and v48, v20
;     jump b9
;   b9 mask v49:
;     jump b20
;   b20 mask v31:
;     jump b18(v19, v18, v49)
;   b21 mask v31:
;     jump b16
;   b16 mask v31:
;     jump b17
;   b17 mask v50:
;     jump b10
;   b10:
;     jump b6
;   b6:
;     return
;   }
; }
