; test: divergence
; stage: normalized
; Moll 2021, figure 7.6: lanes leave one by one at b5 and all at once at b4.

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
    v6: i1 = icmp.slt v5, v2 ; shape: uniform(1)
    br v6, b2, b4(v5)
  b2: ; divergent: block
    v7: i32 = add v5, 1 ; shape: uniform(1)
    v8: i1 = icmp.eq v7, v4 ; shape: varying
    br v8, b5(v7), b3 ; divergent: branch
  b3: ; divergent: block
    jump b1(v7)
  b4(v9: i32): ; shape: uniform(1) ; divergent: block
    jump b6(v9)
  b5(v10: i32): ; shape: varying ; divergent: block exit
    jump b6(v10)
  b6(v11: i32): ; shape: varying ; divergent: join
    return
  }
}
