; test: divergence
; stage: normalized
; Moll 2021, figure 10.2: an aligned id against an aligned bound; against any bound.

kernel "k" {
  args 20
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32): ; shape: uniform(1), uniform(1), uniform(1)
    v3: i64 = query.local_id 0 ; shape: contiguous(8)
    v4: i32 = trunc v3 ; shape: contiguous(8)
    v5: i32 = shl v2, 3 ; shape: uniform(8)
    v6: i1 = icmp.slt v4, v5 ; shape: uniform(1)
    br v6, b1, b2
  b1:
    jump b3(1)
  b2:
    jump b3(2)
  b3(v7: i32): ; shape: uniform(1)
    v8: i1 = icmp.slt v4, v2 ; shape: varying
    br v8, b4, b5 ; divergent: branch
  b4: ; divergent: block
    jump b6(1)
  b5: ; divergent: block
    jump b6(2)
  b6(v9: i32): ; shape: varying ; divergent: join
    return
  }
}
