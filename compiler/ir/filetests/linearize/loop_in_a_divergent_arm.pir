; test: divergent_loops, linearize
; test: run
; stage: regions
; No lane may come to the loop, although all that do leave it together.
; run: loop_in_a_divergent_arm([1, 3, 20]:i32, 1:i8) global=3 local=3 => [1, 3, 21]:i32
; run: loop_in_a_divergent_arm([1, 3, 2]:i32, 1:i8) global=3 local=3 => [1, 3, 2]:i32

kernel "loop_in_a_divergent_arm" {
  args 12
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "u" value "int" size 1 align 1 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i1
  region r0 {
  b0(v0: ptr.global, v1: i1):
    v2: i64 = query.global_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    v5: i32 = load v4 align 4
    v6: i1 = icmp.sgt v5, 10:i32
    br v6, b1, b5
  b1:
    jump b2(v5)
  b2(v7: i32):
    v8: i32 = add v7, 1
    br v1, b4(v8), b3
  b3:
    jump b2(v8)
  b4(v9: i32):
    store v9 to v4 align 4
    jump b6
  b5:
    jump b6
  b6:
    return
  }
}

; output: divergent_loops, linearize
; kernel "loop_in_a_divergent_arm" {
;   args 12
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "u" value "int" size 1 align 1 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): i1
;   region r0 {
;   b0(v0: ptr.global, v1: i1):
;     v2: i64 = query.global_id 0
;     v3: i64 = shl v2, 2
;     v4: ptr.global = ptradd v0, v3
;     v5: i32 = load v4 align 4
;     v6: i1 = icmp.sgt v5, 10:i32
;     v17: i1 = xor v6, true
;     jump b1
;   b1 mask v6:
;     v15: i1 = any true
;     br v15, b7, b8
;   b7 mask v6:
;     jump b2(v5)
;   b2(v7: i32) mask v6:
;     v8: i32 = add v7, 1
;     v18: i1 = any v1
;     br v18, b4(v8), b3
;   b3 mask v6:
;     jump b2(v8)
;   b8 mask v6:
;     jump b4(0)
;   b4(v9: i32) mask v6:
;     store v9 to v4 align 4
;     jump b5
;   b5 mask v17:
;     jump b6
;   b6:
;     return
;   }
; }
