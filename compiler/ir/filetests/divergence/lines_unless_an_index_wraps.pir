; test: divergence
; Unsigned y * w + x may wrap before it becomes part of an address: a line, if v8 is far from the end. A sum of two such
; numbers depends on both, one of three on too much. What always wraps within a gang is no line.

kernel "k" {
  args 16
  param "p" pointer.global "int*" size 8 align 8 offset 0
  param "w" value "uint" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32): ; shape: uniform(1), uniform(1)
    v2: i64 = query.global_id 0 ; shape: contiguous(1)
    v3: i32 = trunc v2 ; shape: contiguous(1)
    v4: i64 = query.global_id 1 ; shape: uniform(1)
    v5: i32 = trunc v4 ; shape: uniform(1)
    v6: i32 = mul v5, v1 ; shape: uniform(1)
    v7: i32 = add v6, v3 ; shape: contiguous(1)
    v8: i64 = zext v7 ; shape: varying ; line: 1 by v8
    v9: i64 = mul v8, 4 ; shape: varying ; line: 4 by v8
    v10: ptr.global = ptradd v0, v9 ; shape: varying ; line: 4 by v8
    v11: i32 = load v10 align 4 ; shape: varying
    v12: i32 = mul v3, -2 ; shape: strided(-2, 2)
    v13: i64 = sext v12 ; shape: varying ; line: -2 by v13
    v14: i64 = shl v13, 3 ; shape: varying ; line: -16 by v13
    v15: i64 = sub v14, v9 ; shape: varying ; line: -20 by v8, v13
    v16: ptr.global = ptradd v10, v14 ; shape: varying ; line: -12 by v8, v13
    v17: i16 = trunc v7 ; shape: contiguous(1)
    v18: i64 = zext v17 ; shape: varying ; line: 1 by v18
    v19: i64 = add v15, v18 ; shape: varying
    v20: i64 = sub v8, v2 ; shape: varying
    v21: i64 = mul v8, v2 ; shape: varying
    v22: i8 = trunc v7 ; shape: contiguous(1)
    v23: i8 = mul v22, 64 ; shape: strided(64, 64)
    v24: i64 = zext v23 ; shape: varying
    store v11 to v16 align 4
    return
  }
}
