; test: versions
; test: run
; test: coherence_versions, divergent_loops, linearize
; passes: -all,unmasked_loops=always,coherent_branches=always
; stage: normalized
; A switch that lanes leave by does not get a version.
; run: left_at_a_switch([1, 3, 0, 2]:i32, 0:i32, 0:i32) global=4 local=4 => [4, 9, 4, 4]:i32

kernel "left_at_a_switch" {
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
    jump b1(v6)
  b1(v7: i32): ; version: lanes leave it at a switch
    v8: i32 = add v7, 1
    switch v8 [4: b3(v8), 5: b4(v8)] default b2 ; copies: then none, else none
  b2:
    jump b1(v8)
  b3(v9: i32):
    v10: i1 = icmp.eq v6, 3:i32
    v11: i32 = select v10, 9:i32, v9
    jump b5(v11)
  b4(v12: i32):
    jump b5(v12)
  b5(v13: i32):
    store v13 to v5 align 4
    return
  }
}

; output: coherence_versions, divergent_loops, linearize
; kernel "left_at_a_switch" {
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
;     jump b7(v6, true, false, 0, 0)
;   b7(v7: i32, v23: i1, v24: i1, v25: i32, v26: i32):
;     v35: i1 = any v23
;     br v35, b8, b10
;   b8:
;     jump b1
;   b1 mask v23:
;     v8: i32 = add v7, 1
;     v19: i1 = icmp.eq v8, 4:i32
;     v37: i1 = xor v19, true
;     v38: i1 = and v23, v37
;     v41: i1 = and v23, v19
;     v42: i1 = or v24, v41
;     v43: i32 = select v41, v8, v25
;     jump b6(v8)
;   b6(v20: i32) mask v38:
;     v22: i1 = icmp.eq v20, 5:i32
;     v39: i1 = xor v22, true
;     v40: i1 = and v38, v39
;     v44: i1 = and v38, v22
;     v45: i32 = select v44, v20, v26
;     jump b2
;   b2 mask v40:
;     jump b9
;   b9:
;     jump b7(v8, v40, v42, v43, v45)
;   b10:
;     v46: i1 = xor v24, true
;     jump b3(v25)
;   b3(v9: i32) mask v24:
;     v10: i1 = icmp.eq v6, 3:i32
;     v11: i32 = select v10, 9, v9
;     jump b11
;   b11 mask v46:
;     jump b4(v26)
;   b4(v12: i32) mask v46:
;     v47: i32 = select v46, v12, v11
;     jump b5
;   b5:
;     store v47 to v5 align 4
;     return
;   }
; }
