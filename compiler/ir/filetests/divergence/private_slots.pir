; test: divergence
; stage: normalized
; Moll 2021, figure 6.11: written with a varying value, at varying offsets, and uniformly.

kernel "k" {
  args 20
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  slot ss0 size 16 align 8
  slot ss1 size 64 align 8
  slot ss2 size 64 align 8
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32): ; shape: uniform(1), uniform(1), uniform(1)
    v3: i64 = query.local_id 0 ; shape: contiguous(8)
    v4: i32 = trunc v3 ; shape: contiguous(8)
    v5: ptr.private = slot_addr ss0 ; shape: varying
    store v4 to v5 align 4
    v6: i32 = load v5 align 4 ; shape: varying
    v7: ptr.private = slot_addr ss1 ; shape: varying
    v8: i64 = and v3, 3 ; shape: varying
    v9: i64 = shl v8, 2 ; shape: varying
    v10: ptr.private = ptradd v7, v9 ; shape: varying
    store 42:i32 to v10 align 4
    v11: i32 = load v7 + 12 align 4 ; shape: varying
    v12: ptr.private = slot_addr ss2 ; shape: uniform(8)
    v13: i32 = and v2, 3 ; shape: uniform(1)
    v14: i64 = zext v13 ; shape: uniform(1)
    v15: i64 = shl v14, 2 ; shape: uniform(4)
    v16: ptr.private = ptradd v12, v15 ; shape: uniform(4)
    store v2 to v16 align 4
    v17: i32 = load v12 + 4 align 4 ; shape: uniform(1)
    return
  }
}
