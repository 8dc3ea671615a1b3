; test: coherence_versions, divergent_loops, linearize
; passes: -all,unmasked_loops=always,coherent_branches=always
; test: run
; stage: normalized
; The iteration in which a lane leaves has done nothing yet and begins again in the loop with masks.
; run: left_at_the_head([1, 3, 0, 2]:i32, 7:i32, 1:i32) global=4 local=4 => [3, 21, 0, 10]:i32

kernel "left_at_the_head" {
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
    jump b1(0, 0)
  b1(v7: i32, v8: i32):
    v9: i1 = icmp.slt v7, v6
    br v9, b2, b3(v8)
  b2:
    v10: i32 = add v8, v6
    v11: i32 = add v7, 1
    v12: i32 = add v10, v7
    v13: i32 = add v12, v11
    v14: i32 = xor v13, v2
    v15: i32 = xor v14, v2
    v16: i32 = add v15, v2
    jump b1(v11, v16)
  b3(v17: i32):
    store v17 to v5 align 4
    return
  }
}

; output: coherence_versions, divergent_loops, linearize
; kernel "left_at_the_head" {
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
;     jump b4(0, 0)
;   b4(v21: i32, v22: i32):
;     v23: i1 = icmp.slt v21, v6
;     v32: i1 = xor v23, true
;     v33: i1 = any v32
;     br v33, b6(v21, v22), b5
;   b5:
;     v24: i32 = add v22, v6
;     v25: i32 = add v21, 1
;     v26: i32 = add v24, v21
;     v27: i32 = add v26, v25
;     v28: i32 = xor v27, v2
;     v29: i32 = xor v28, v2
;     v30: i32 = add v29, v2
;     jump b4(v25, v30)
;   b6(v34: i32, v35: i32):
;     jump b7(v34, v35, true, 0)
;   b7(v7: i32, v8: i32, v36: i1, v37: i32):
;     v43: i1 = any v36
;     br v43, b8, b10
;   b8:
;     jump b1
;   b1 mask v36:
;     v9: i1 = icmp.slt v7, v6
;     v44: i1 = and v36, v9
;     v45: i1 = xor v9, true
;     v46: i1 = and v36, v45
;     v47: i32 = select v46, v8, v37
;     jump b2
;   b2 mask v44:
;     v10: i32 = add v8, v6
;     v11: i32 = add v7, 1
;     v12: i32 = add v10, v7
;     v13: i32 = add v12, v11
;     v14: i32 = xor v13, v2
;     v15: i32 = xor v14, v2
;     v16: i32 = add v15, v2
;     jump b9
;   b9:
;     jump b7(v11, v16, v44, v47)
;   b10:
;     jump b3(v37)
;   b3(v17: i32):
;     store v17 to v5 align 4
;     return
;   }
; }
