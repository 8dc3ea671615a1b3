; test: divergence
; stage: normalized
; Moll 2021, figure 10.3: what lanes load is unrelated, and so are its multiples.

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
    v6: i64 = shl v4, 2 ; shape: strided(4, 32)
    v7: ptr.global = ptradd v0, v6 ; shape: strided(4, 1)
    v8: i32 = load v7 align 4 ; shape: varying
    v9: i32 = shl v8, 2 ; shape: varying
    v10: i64 = sext v9 ; shape: varying
    v11: i64 = shl v10, 2 ; shape: varying
    v12: ptr.global = ptradd v1, v11 ; shape: varying
    v13: i32 = load v12 align 4 ; shape: varying
    v14: i1 = icmp.slt v9, v2 ; shape: varying
    br v14, b1, b2 ; divergent: branch
  b1: ; divergent: block
    store v13 to v7 align 4
    jump b3
  b2: ; divergent: block
    jump b3
  b3: ; divergent: join
    return
  }
}
