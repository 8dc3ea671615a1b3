; test: divergence
; stage: normalized
; Karrenberg & Hack 2012, figure 6, right: lanes leave one by one from f (b5) to b8; those that are left leave
; all at once from c (b2) to b7. Inside, b (b1) and c are uniform, so f is no join.

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
    v6: i1 = icmp.eq v3, 0:i32 ; shape: uniform(1)
    jump b1(0)
  b1(v7: i32): ; shape: uniform(1) ; divergent: block loop
    br v6, b2, b3
  b2: ; divergent: block
    v8: i1 = icmp.sge v7, v2 ; shape: uniform(1)
    br v8, b7(v7), b4
  b3: ; divergent: block
    jump b5(1)
  b4: ; divergent: block
    jump b5(2)
  b5(v9: i32): ; shape: uniform(1) ; divergent: block
    v10: i32 = add v7, v9 ; shape: uniform(1)
    v11: i1 = icmp.eq v10, v5 ; shape: varying
    br v11, b8(v10), b6 ; divergent: branch
  b6: ; divergent: block
    jump b1(v10)
  b7(v12: i32): ; shape: uniform(1) ; divergent: block
    jump b9(v12)
  b8(v13: i32): ; shape: varying ; divergent: block exit
    jump b9(v13)
  b9(v14: i32): ; shape: varying ; divergent: join
    return
  }
}
