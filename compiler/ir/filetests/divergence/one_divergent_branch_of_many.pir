; test: divergence
; stage: normalized
; Karrenberg & Hack 2012, figure 6, left: only b (b1) is divergent. Lanes meet in g (b6) and in i (b8), not in
; h (b7), to which one way only leads through b.

kernel "k" {
  args 24
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  param "m" value "int" size 4 align 4 offset 20
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  input value(3, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32, v3: i32): ; shape: uniform(1), uniform(1), uniform(1), uniform(1)
    v4: i64 = query.local_id 0 ; shape: contiguous(8)
    v5: i32 = trunc v4 ; shape: contiguous(8)
    v6: i1 = icmp.slt v2, v3 ; shape: uniform(1)
    v7: i1 = icmp.eq v5, v3 ; shape: varying
    v8: i1 = icmp.eq v2, 0:i32 ; shape: uniform(1)
    br v6, b1, b2
  b1:
    br v7, b3, b4 ; divergent: branch
  b2:
    br v8, b5, b9
  b3: ; divergent: block
    jump b6(1)
  b4: ; divergent: block
    br v8, b10, b11
  b10: ; divergent: block
    jump b6(2)
  b11: ; divergent: block
    jump b7(3)
  b5:
    jump b7(4)
  b9:
    jump b7(5)
  b6(v9: i32): ; shape: varying ; divergent: block join
    jump b8(v9)
  b7(v10: i32): ; shape: uniform(1) ; divergent: block
    jump b8(v10)
  b8(v11: i32): ; shape: varying ; divergent: join
    return
  }
}
