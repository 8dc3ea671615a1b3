; test: divergence
; stage: normalized
; launch: ids_fit_int
; What was promised of a number does not hold of it once it is frozen: a lane that does not use it may have wrapped.

kernel "k" {
  args 4
  param "n" value "int" size 4 align 4 offset 0
  input value(0, 0): i32
  region r0 {
  b0(v0: i32): ; shape: uniform(1)
    v1: i64 = query.global_id 0 ; shape: contiguous(1)
    v2: i32 = trunc v1 ; shape: contiguous(1)
    v3: i32 = add.nsw v2, v0 ; shape: contiguous(1)
    v4: i64 = sext v3 ; shape: contiguous(1)
    v5: i32 = freeze v3 ; shape: contiguous(1)
    v6: i64 = sext v5 ; shape: varying ; line: 1 by v6
    v7: i32 = freeze v0 ; shape: uniform(1)
    v8: i64 = sext v7 ; shape: uniform(1)
    v9: i32 = freeze 3 ; shape: uniform(1)
    v10: i32 = mul v9, v2 ; shape: strided(3, 1)
    return
  }
}
