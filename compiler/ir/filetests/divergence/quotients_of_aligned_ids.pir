; test: divergence
; stage: normalized
; Moll 2021, figure 10.7: lanes that divide an aligned id by the width get the same, so the address is one for
; all and the loop around it is uniform.

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
    v6: i32 = udiv v5, 8 ; shape: uniform(1)
    v7: i32 = sdiv v2, v3 ; shape: uniform(1)
    v8: i32 = mul v6, v7 ; shape: uniform(1)
    v9: i64 = sext v8 ; shape: uniform(1)
    v10: i64 = shl v9, 2 ; shape: uniform(4)
    v11: ptr.global = ptradd v0, v10 ; shape: uniform(1)
    jump b1(0)
  b1(v12: i32): ; shape: uniform(1)
    v13: i1 = icmp.slt v12, v6 ; shape: uniform(1)
    br v13, b2, b3
  b2:
    v14: i32 = load v11 align 4 ; shape: uniform(1)
    v15: i32 = add v14, v12 ; shape: uniform(1)
    store v15 to v11 align 4
    v16: i32 = add v12, 1 ; shape: uniform(1)
    jump b1(v16)
  b3:
    return
  }
}
