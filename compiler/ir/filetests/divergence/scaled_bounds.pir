; test: divergence
; stage: normalized
; Moll 2021, figure 10.11, for gangs of eight: an id behind a multiple of the width, against another multiple;
; and against one that may lie between lanes.

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
    v6: i32 = shl v2, 3 ; shape: uniform(8)
    v7: i32 = add v6, v5 ; shape: contiguous(8)
    v8: i32 = mul v3, 72 ; shape: uniform(8)
    v9: i1 = icmp.uge v7, v8 ; shape: uniform(1)
    br v9, b1, b2
  b1:
    jump b3(1)
  b2:
    jump b3(2)
  b3(v10: i32): ; shape: uniform(1)
    v11: i32 = mul v3, 36 ; shape: uniform(4)
    v12: i1 = icmp.uge v7, v11 ; shape: varying
    br v12, b4, b5 ; divergent: branch
  b4: ; divergent: block
    jump b6(1)
  b5: ; divergent: block
    jump b6(2)
  b6(v13: i32): ; shape: varying ; divergent: join
    return
  }
}
