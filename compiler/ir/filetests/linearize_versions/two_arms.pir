; test: coherence_versions, divergent_loops, linearize
; passes: -all,unmasked_loops=always,coherent_branches=always
; test: run
; stage: normalized
; Each arm has a copy; lanes that do not agree run both arms with masks.
; run: two_arms([11, 12, 13, 14]:i32, 5:i32, 0:i32) global=4 local=4 => [16, 17, 18, 19]:i32
; run: two_arms([1, 2, 3, 4]:i32, 5:i32, 0:i32) global=4 local=4 => [-4, -3, -2, -1]:i32
; run: two_arms([11, 2, 13, 4]:i32, 5:i32, 0:i32) global=4 local=4 => [16, -3, 18, -1]:i32

kernel "two_arms" {
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
    v8: i32 = add v6, v1
    jump b3(v8)
  b2:
    v9: i32 = sub v6, v1
    jump b3(v9)
  b3(v10: i32):
    store v10 to v5 align 4
    return
  }
}

; output: coherence_versions, divergent_loops, linearize
; kernel "two_arms" {
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
;     v18: i1 = any v7
;     br v18, b7, b6
;   b7:
;     v20: i1 = xor v7, true
;     jump b1
;   b1 mask v7:
;     v8: i32 = add v6, v1
;     jump b2
;   b2 mask v20:
;     v9: i32 = sub v6, v1
;     v21: i32 = select v20, v9, v8
;     jump b3(v21)
;   b6:
;     v17: i32 = sub v6, v1
;     jump b3(v17)
;   b4:
;     v13: i32 = add v6, v1
;     jump b3(v13)
;   b3(v23: i32):
;     store v23 to v5 align 4
;     return
;   }
; }
