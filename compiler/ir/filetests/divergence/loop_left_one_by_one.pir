; test: divergence
; stage: normalized
; Moll 2021, figure 7.1c: the counter is uniform in the loop and varies behind it; what is invariant stays uniform.

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
    jump b1(0)
  b1(v5: i32): ; shape: uniform(1) ; divergent: block loop
    v6: i32 = add v5, 1 ; shape: uniform(1)
    v7: i1 = icmp.slt v6, v4 ; shape: varying
    br v7, b2, b3(v6, v2) ; divergent: branch
  b2: ; divergent: block
    jump b1(v6)
  b3(v8: i32, v9: i32): ; shape: varying, uniform(1) ; divergent: exit
    return
  }
}
