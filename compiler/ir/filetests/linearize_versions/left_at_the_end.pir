; test: coherence_versions, divergent_loops, linearize
; passes: -all,unmasked_loops=always,coherent_branches=always
; test: run
; stage: normalized
; Nothing is left of the iteration where lanes leave: those who stay go on into the loop with masks.
; run: left_at_the_end([1, 3, 0, 2]:i32, 7:i32, 0:i32) global=4 local=4 => [8, 24, 7, 16]:i32

kernel "left_at_the_end" {
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
    jump b1(0, v6)
  b1(v7: i32, v8: i32):
    v9: i32 = add v8, v1
    store v9 to v5 align 4
    v10: i32 = add v7, 1
    v11: i1 = icmp.slt v10, v6
    br v11, b2, b3
  b2:
    jump b1(v10, v9)
  b3:
    return
  }
}

; output: coherence_versions, divergent_loops, linearize
; kernel "left_at_the_end" {
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
;     jump b4(0, v6)
;   b4(v15: i32, v16: i32):
;     v17: i32 = add v16, v1
;     store v17 to v5 align 4
;     v18: i32 = add v15, 1
;     v19: i1 = icmp.slt v18, v6
;     v21: i1 = xor v19, true
;     v22: i1 = any v21
;     br v22, b6(v19, v18, v17), b5
;   b5:
;     jump b4(v18, v17)
;   b6(v23: i1, v24: i32, v25: i32):
;     v34: i1 = xor v23, true
;     jump b7
;   b7 mask v23:
;     jump b10(v24, v25, true)
;   b10(v7: i32, v8: i32, v26: i1) mask v23:
;     v31: i1 = any v26
;     br v31, b11, b13
;   b11 mask v23:
;     v32: i1 = and v23, v26
;     jump b1
;   b1 mask v32:
;     v9: i32 = add v8, v1
;     store v9 to v5 align 4
;     v10: i32 = add v7, 1
;     v11: i1 = icmp.slt v10, v6
;     v33: i1 = and v32, v11
;     jump b2
;   b2 mask v33:
;     jump b12
;   b12 mask v23:
;     jump b10(v10, v9, v33)
;   b13 mask v23:
;     jump b8
;   b8 mask v23:
;     jump b9
;   b9 mask v34:
;     jump b3
;   b3:
;     return
;   }
; }
