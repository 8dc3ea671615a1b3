; test: divergent_loops, linearize
; test: run
; stage: normalized
; Moll 2021, figure 8.4: a block with three edges needs two edge predicates; one value is what is left.
; run: three_values_meet([1, 12, 3, 140]:i32, 0:i32, 0:i32) global=4 local=4 => [1, 2, 1, 30]:i32

kernel "three_values_meet" {
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
    v7: i1 = icmp.slt v6, 5:i32
    br v7, b1, b2
  b1:
    jump b5(1)
  b2:
    v8: i1 = icmp.slt v6, 50:i32
    br v8, b3, b4
  b3:
    jump b5(2)
  b4:
    jump b5(30)
  b5(v9: i32):
    store v9 to v5 align 4
    return
  }
}

; output: divergent_loops, linearize
; kernel "three_values_meet" {
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
;     v7: i1 = icmp.slt v6, 5:i32
;     v18: i1 = xor v7, true
;     jump b1
;   b1 mask v7:
;     jump b2
;   b2 mask v18:
;     v8: i1 = icmp.slt v6, 50:i32
;     v19: i1 = and v18, v8
;     v20: i1 = xor v8, true
;     v21: i1 = and v18, v20
;     jump b3
;   b3 mask v19:
;     v22: i32 = select v19, 2, 1
;     jump b4
;   b4 mask v21:
;     v23: i32 = select v21, 30, v22
;     jump b5
;   b5:
;     store v23 to v5 align 4
;     return
;   }
; }
