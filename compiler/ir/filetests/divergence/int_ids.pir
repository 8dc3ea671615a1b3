; test: divergence
; stage: normalized
; launch: ids_fit_int
; Ids cut to an int: neighbours, rows of a matrix, four floats each. The local size is not known. In an unsigned int a
; row may wrap.

kernel "k" {
  args 20
  param "a" pointer.global "float*" size 8 align 8 offset 0
  param "y" pointer.global "float*" size 8 align 8 offset 8
  param "width" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32): ; shape: uniform(1), uniform(1), uniform(1)
    v3: i64 = query.global_id 0 ; shape: contiguous(1)
    v4: i32 = trunc v3 ; shape: contiguous(1)
    v5: i64 = sext v4 ; shape: contiguous(1)
    v6: i64 = shl v5, 2 ; shape: strided(4, 4)
    v7: ptr.global = ptradd v0, v6 ; shape: strided(4, 1)
    v8: i32 = add.nsw v4, 1 ; shape: contiguous(1)
    v9: i64 = sext v8 ; shape: contiguous(1)
    v10: i32 = add.nsw v4, -1 ; shape: contiguous(1)
    v11: i64 = sext v10 ; shape: contiguous(1)
    v12: i64 = query.global_id 1 ; shape: uniform(1)
    v13: i32 = trunc v12 ; shape: uniform(1)
    v14: i32 = mul.nsw v13, v2 ; shape: uniform(1)
    v15: i32 = add.nsw v14, v4 ; shape: contiguous(1)
    v16: i64 = sext v15 ; shape: contiguous(1)
    v17: i32 = mul v13, v2 ; shape: uniform(1)
    v18: i32 = add v17, v4 ; shape: contiguous(1)
    v19: i64 = zext v18 ; shape: varying ; line: 1 by v19
    v20: i32 = shl.nsw v4, 2 ; shape: strided(4, 4)
    v21: i64 = sext v20 ; shape: strided(4, 4)
    v22: i64 = shl v21, 2 ; shape: strided(16, 16)
    v23: ptr.global = ptradd v0, v22 ; shape: strided(16, 1)
    v24: f32, v25: f32, v26: f32, v27: f32 = load v23 align 16 ; shape: varying, varying, varying, varying
    v28: i32 = and v4, 15 ; shape: varying
    v29: i64 = and v3, 4294967295 ; shape: contiguous(1)
    v30: i64 = query.global_size 0 ; shape: uniform(1)
    v31: i64 = sub v30, v3 ; shape: strided(-1, 1)
    v32: i64 = shl v3, 32 ; shape: strided(4294967296, 4294967296)
    v33: i64 = ashr v32, 32 ; shape: contiguous(1)
    return
  }
}
