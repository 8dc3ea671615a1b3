; test: divergence
; stage: normalized
; launch: ids_fit_int zero_offset full_groups local(32,2,1)
; Moll 2021, chapter 10: quotients and remainders of aligned ids are uniform or contiguous; sizes are constants.

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
    v3: i64 = query.global_id 0 ; shape: contiguous(8)
    v4: i32 = trunc v3 ; shape: contiguous(8)
    v5: i32 = and v4, 15 ; shape: contiguous(8)
    v6: i32 = srem v4, 16 ; shape: contiguous(8)
    v7: i32 = sdiv v4, 16 ; shape: uniform(1)
    v8: i32 = ashr v4, 4 ; shape: uniform(1)
    v9: i64 = urem v3, 16 ; shape: contiguous(8)
    v10: i64 = udiv v3, 16 ; shape: uniform(1)
    v11: i64 = lshr v3, 4 ; shape: uniform(1)
    v12: i64 = query.local_id 0 ; shape: contiguous(8)
    v13: i32 = trunc v12 ; shape: contiguous(8)
    v14: i32 = and v13, 15 ; shape: contiguous(8)
    v15: i32 = srem v13, 16 ; shape: contiguous(8)
    v16: i32 = ashr v13, 3 ; shape: uniform(1)
    v17: i64 = query.local_size 0 ; shape: uniform(32)
    v18: i64 = udiv v3, v17 ; shape: uniform(1)
    v19: i64 = query.group_id 0 ; shape: uniform(1)
    v20: i64 = mul v19, v17 ; shape: uniform(32)
    v21: i64 = add v20, v12 ; shape: contiguous(8)
    v22: i64 = query.local_id 1 ; shape: uniform(1)
    v23: i64 = mul v22, v17 ; shape: uniform(32)
    v24: i64 = add v23, v12 ; shape: contiguous(8)
    v25: i32 = trunc v24 ; shape: contiguous(8)
    v26: i64 = zext v25 ; shape: contiguous(8)
    v27: i64 = query.global_size 0 ; shape: uniform(32)
    v28: i1 = icmp.ult v3, v27 ; shape: uniform(1)
    v29: i32 = srem v4, v2 ; shape: varying
    v30: i64 = query.global_offset 0 ; shape: uniform(9223372036854775808)
    v31: i64 = query.num_groups 1 ; shape: uniform(1)
    return
  }
}
