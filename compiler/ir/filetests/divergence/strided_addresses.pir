; test: divergence
; stage: normalized
; Moll 2021, figure 10.5: strides through shifts and disjoint or; a cut and extended id; reversed and uniform parts.

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
    v4: i64 = shl v3, 1 ; shape: strided(2, 16)
    v5: i64 = or v4, 1 ; shape: strided(2, 1)
    v6: i64 = shl v5, 3 ; shape: strided(16, 8)
    v7: ptr.global = ptradd v0, v6 ; shape: strided(16, 1)
    v8: i32 = load v7 align 4 ; shape: varying
    v9: i32 = trunc v3 ; shape: contiguous(8)
    v10: i64 = sext v9 ; shape: contiguous(8)
    v11: i64 = shl v10, 2 ; shape: strided(4, 32)
    v12: ptr.global = ptradd v1, v11 ; shape: strided(4, 1)
    v13: i64 = lshr v3, 3 ; shape: uniform(1)
    v14: i64 = and v3, 7 ; shape: contiguous(9223372036854775808)
    v15: i64 = xor v14, 7 ; shape: strided(-1, 1)
    v16: i64 = udiv v3, 24 ; shape: uniform(1)
    v17: i64 = urem v3, 24 ; shape: contiguous(8)
    v18: i32 = load v0 align 4 ; shape: uniform(1)
    v19: i64 = query.global_id 0 ; shape: contiguous(1)
    v20: i64 = query.local_id 1 ; shape: uniform(1)
    v21: i32 = load v12 align 4 ; shape: varying
    store v21 to v12 align 4
    return
  }
}
