; test: divergent_loops, linearize
; test: run
; stage: normalized
; Karrenberg & Hack 2012, figure 9: a (b0) is divergent, c (b2) uniform. The way a, b, d, f must stay
; possible, so e (b4) does not go to f past d (b3).
; run: neighbour_of_a_uniform_block([1, 12, 3, 14]:i32, 0:i32, 0:i32) global=4 local=4 => [11, 21, 11, 21]:i32
; run: neighbour_of_a_uniform_block([1, 12, 3, 14]:i32, 1:i32, 0:i32) global=4 local=4 => [11, 32, 11, 32]:i32

kernel "neighbour_of_a_uniform_block" {
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
    v8: i1 = icmp.eq v1, 0:i32
    br v7, b1, b2
  b1:
    jump b3(10)
  b2:
    br v8, b6, b4
  b6:
    jump b3(20)
  b3(v9: i32):
    v10: i32 = or v9, 1
    jump b5(v10)
  b4:
    jump b5(32)
  b5(v11: i32):
    store v11 to v5 align 4
    return
  }
}

; output: divergent_loops, linearize
; kernel "neighbour_of_a_uniform_block" {
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
;     v8: i1 = icmp.eq v1, 0:i32
;     v21: i1 = xor v7, true
;     jump b1
;   b1 mask v7:
;     jump b2
;   b2 mask v21:
;     v27: i1 = any v8
;     br v27, b6, b4
;   b6 mask v21:
;     v22: i1 = or v7, v21
;     v24: i32 = select v21, 20, 10
;     jump b3(v22, v24)
;   b4 mask v21:
;     jump b3(v7, 10)
;   b3(v23: i1, v25: i32) mask v23:
;     v10: i32 = or v25, 1
;     v26: i32 = select v23, v10, 32
;     jump b5
;   b5:
;     store v26 to v5 align 4
;     return
;   }
; }
