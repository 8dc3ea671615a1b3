; test: versions
; test: run
; test: coherence_versions, divergent_loops, linearize
; passes: -all,unmasked_loops=always,coherent_branches=always
; stage: normalized
; Lanes leave from code that only some of them run: no one branch tells whether a lane leaves.
; run: behind_a_divergent_branch([1, 3, 0, 2]:i32, 7:i32, 2:i32) global=4 local=4 => [2, 3, 2, 2]:i32

kernel "behind_a_divergent_branch" {
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
    v8: i32 = add v7, 1
    v9: i1 = icmp.sge v8, v6
    br v9, b2, b3 ; copies: then none, else none
  b2:
    v10: i1 = icmp.sge v8, v2
    br v10, b4(v8), b5
  b5:
    jump b6
  b3:
    jump b6
  b6:
    jump b1(v8)
  b4(v11: i32):
    store v11 to v5 align 4
    return
  }
}

; output: coherence_versions, divergent_loops, linearize
; kernel "behind_a_divergent_branch" {
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
;     jump b7(0, true, 0)
;   b7(v7: i32, v15: i1, v16: i32):
;     v22: i1 = any v15
;     br v22, b8, b10
;   b8:
;     jump b1
;   b1 mask v15:
;     v8: i32 = add v7, 1
;     v9: i1 = icmp.sge v8, v6
;     v23: i1 = and v15, v9
;     v24: i1 = xor v9, true
;     v25: i1 = and v15, v24
;     jump b2
;   b2 mask v23:
;     v10: i1 = icmp.sge v8, v2
;     v28: i1 = and v23, v10
;     v29: i32 = select v28, v8, v16
;     v30: i1 = any v10
;     br v30, b3(false), b5
;   b5 mask v23:
;     jump b3(v23)
;   b3(v26: i1) mask v25:
;     v27: i1 = or v26, v25
;     jump b6
;   b6 mask v27:
;     jump b9
;   b9:
;     jump b7(v8, v27, v29)
;   b10:
;     jump b4(v16)
;   b4(v11: i32):
;     store v11 to v5 align 4
;     return
;   }
; }
