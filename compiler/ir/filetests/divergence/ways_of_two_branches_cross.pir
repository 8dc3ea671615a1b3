; test: divergence
; stage: normalized
; Karrenberg & Hack 2012, figure 7, right: a (b0) is uniform; i, j and k (b7, b8, b9) are each reached from
; one way only of b (b1) and of c (b2), which are divergent, so their parameters stay uniform.

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
    v6: i1 = icmp.eq v2, v3 ; shape: uniform(1)
    v7: i1 = icmp.slt v5, v3 ; shape: varying
    br v6, b1, b2
  b1:
    br v7, b3, b4 ; divergent: branch
  b2:
    br v7, b5, b6 ; divergent: branch
  b3: ; divergent: block
    jump b7(1)
  b4: ; divergent: block
    jump b8
  b5: ; divergent: block
    jump b7(2)
  b6: ; divergent: block
    jump b9
  b7(v8: i32): ; shape: uniform(1) ; divergent: block
    jump b10(v8)
  b8: ; divergent: block
    jump b10(3)
  b9: ; divergent: block
    jump b10(4)
  b10(v9: i32): ; shape: varying ; divergent: join
    return
  }
}
