; test: divergence
; stage: normalized
; Karrenberg & Hack 2012, figure 7, left: j (b3) runs neither for all lanes of a (b0) nor for those of one arm
; only.

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
    v6: i1 = icmp.eq v5, v2 ; shape: varying
    v7: i1 = icmp.slt v5, v3 ; shape: varying
    br v6, b1, b2 ; divergent: branch
  b1: ; divergent: block
    br v7, b4, b5 ; divergent: branch
  b2: ; divergent: block
    br v7, b6, b7 ; divergent: branch
  b4: ; divergent: block
    jump b8(1)
  b5: ; divergent: block
    jump b3(1)
  b6: ; divergent: block
    jump b3(2)
  b7: ; divergent: block
    jump b8(2)
  b3(v8: i32): ; shape: varying ; divergent: block join
    jump b8(v8)
  b8(v9: i32): ; shape: varying ; divergent: join
    return
  }
}
