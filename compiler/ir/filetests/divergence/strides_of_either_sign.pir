; test: divergence
; stage: normalized
; Moll 2021, figure 10.1: an id, and minus twice the id, index two buffers.

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
    v6: i64 = mul v4, -2 ; shape: strided(-2, 16)
    v8: i64 = shl v6, 2 ; shape: strided(-8, 64)
    v9: ptr.global = ptradd v1, v8 ; shape: strided(-8, 1)
    v10: i32 = load v9 align 4 ; shape: varying
    v11: i64 = shl v4, 2 ; shape: strided(4, 32)
    v12: ptr.global = ptradd v0, v11 ; shape: strided(4, 1)
    store v10 to v12 align 4
    return
  }
}
