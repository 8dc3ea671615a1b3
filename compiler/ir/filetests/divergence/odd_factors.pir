; test: divergence
; stage: normalized
; launch: ids_fit_int
; Moll 2021, figures 10.9 and 10.10: 3 t + 3 n by 3 is a line of one step a lane, by -3 one that goes down, and leaves no remainder; of
; 6 t + 6 n - 4 an odd factor is gone. Of a sum that may wrap nothing is known, nor of one with another factor. An id times three is not
; negative where it does not wrap, so that 3 t + 2 by 3 is a line, too.

kernel "k" {
  args 20
  param "a" pointer.global "float*" size 8 align 8 offset 0
  param "y" pointer.global "float*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32): ; shape: uniform(1), uniform(1), uniform(1)
    v3: i64 = query.global_id 0 ; shape: contiguous(1)
    v4: i32 = trunc v3 ; shape: contiguous(1)
    v5: i32 = mul.nsw v4, 3 ; shape: strided(3, 1)
    v6: i32 = mul.nsw v2, 3 ; shape: uniform(1)
    v7: i32 = add.nsw v5, v6 ; shape: strided(3, 1)
    v8: i32 = sdiv v7, 3 ; shape: contiguous(1)
    v9: i64 = sext v8 ; shape: contiguous(1)
    v10: i64 = shl v9, 2 ; shape: strided(4, 4)
    v11: ptr.global = ptradd v0, v10 ; shape: strided(4, 1)
    v12: f32 = load v11 align 4 ; shape: varying
    v13: i32 = srem v7, 3 ; shape: uniform(9223372036854775808)
    v14: i32 = sdiv v7, -3 ; shape: strided(-1, 1)
    v15: i32 = mul.nsw v4, 6 ; shape: strided(6, 2)
    v16: i32 = mul.nsw v2, 6 ; shape: uniform(2)
    v17: i32 = add.nsw v15, v16 ; shape: strided(6, 2)
    v18: i32 = sdiv v17, 6 ; shape: contiguous(1)
    v19: i32 = add.nsw v17, -4 ; shape: strided(6, 2)
    v20: i32 = sdiv v19, 6 ; shape: varying
    v21: i32 = sdiv v19, 2 ; shape: strided(3, 1)
    v22: i32 = add v5, v6 ; shape: strided(3, 1)
    v23: i32 = sdiv v22, 3 ; shape: varying
    v24: i32 = sdiv v7, 9 ; shape: varying
    v25: i32 = add.nsw v5, 2 ; shape: strided(3, 1)
    v26: i32 = sdiv v25, 3 ; shape: contiguous(1)
    v27: i32 = srem v25, 3 ; shape: uniform(1)
    v28: i32 = shl.nsw v4, 2 ; shape: strided(4, 4)
    v29: i32 = add.nsw v28, 3 ; shape: strided(4, 1)
    v30: i32 = sdiv v29, 4 ; shape: contiguous(1)
    v31: i32 = add v5, 2 ; shape: strided(3, 1)
    v32: i32 = sdiv v31, 3 ; shape: varying
    v33: ptr.global = ptradd v1, v10 ; shape: strided(4, 1)
    store v12 to v33 align 4
    return
  }
}
