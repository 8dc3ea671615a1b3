; test: coherence_versions, divergent_loops, linearize
; passes: -all,unmasked_loops=always,coherent_branches=always
; test: run
; stage: normalized
; Sun et al. 2019, as told in Moll 2021, section 9.2: where all lanes want to run the arm, they run a copy of it.
; run: one_arm([11, 12, 13, 14]:i32, 0:i32, 0:i32) global=4 local=4 => [22, 24, 26, 28]:i32
; run: one_arm([11, 2, 13, 4]:i32, 0:i32, 0:i32) global=4 local=4 => [22, 2, 26, 4]:i32

kernel "one_arm" {
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
    v7: i1 = icmp.sgt v6, 9:i32
    br v7, b1, b2
  b1:
    v8: i32 = load v5 align 4
    v9: i32 = add v8, v6
    store v9 to v5 align 4
    jump b3
  b2:
    jump b3
  b3:
    return
  }
}

; output: coherence_versions, divergent_loops, linearize
; kernel "one_arm" {
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
;     v7: i1 = icmp.sgt v6, 9:i32
;     v15: i1 = xor v7, true
;     v16: i1 = any v15
;     br v16, b5, b4
;   b5:
;     v18: i1 = xor v7, true
;     jump b1
;   b1 mask v7:
;     v8: i32 = load v5 align 4
;     v9: i32 = add v8, v6
;     store v9 to v5 align 4
;     jump b2
;   b2 mask v18:
;     jump b3
;   b4:
;     v12: i32 = load v5 align 4
;     v13: i32 = add v12, v6
;     store v13 to v5 align 4
;     jump b3
;   b3:
;     return
;   }
; }
