; test: divergence
; stage: normalized
; Karrenberg & Hack 2012, figure 6, middle: lanes leave the outer loop one by one, the inner one together.

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
    jump b1(0)
  b1(v6: i32): ; shape: uniform(1) ; divergent: block loop
    v7: i1 = icmp.slt v6, v5 ; shape: varying
    br v7, b2, b6 ; divergent: branch
  b2: ; divergent: block
    jump b3(0)
  b3(v8: i32): ; shape: uniform(1) ; divergent: block
    v9: i1 = icmp.slt v8, v2 ; shape: uniform(1)
    br v9, b4, b5(v8)
  b4: ; divergent: block
    v10: i32 = add v8, 1 ; shape: uniform(1)
    jump b3(v10)
  b5(v11: i32): ; shape: uniform(1) ; divergent: block
    v12: i32 = add v6, v11 ; shape: uniform(1)
    jump b1(v12)
  b6: ; divergent: exit
    return
  }
}
