; test: divergence
; stage: normalized
; launch: ids_fit_int zero_offset full_groups rows multiple(2)
; The local size along x and the kernel's int are multiples of sixteen: rows of a matrix by id / width and id % width,
; the test at a range's end.

kernel "k" {
  args 24
  param "a" pointer.global "float*" size 8 align 8 offset 0
  param "y" pointer.global "float*" size 8 align 8 offset 8
  param "width" value "int" size 4 align 4 offset 16
  param "other" value "int" size 4 align 4 offset 20
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  input value(3, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32, v3: i32): ; shape: uniform(1), uniform(1), uniform(16), uniform(1)
    v4: i64 = query.global_id 0 ; shape: contiguous(8)
    v5: i32 = trunc v4 ; shape: contiguous(8)
    v6: i32 = srem v5, v2 ; shape: contiguous(8)
    v7: i32 = sdiv v5, v2 ; shape: uniform(1)
    v8: i32 = mul.nsw v7, v2 ; shape: uniform(16)
    v9: i32 = add.nsw v8, v6 ; shape: contiguous(8)
    v10: i64 = sext v9 ; shape: contiguous(8)
    v11: i64 = sext v2 ; shape: uniform(16)
    v12: i64 = udiv v4, v11 ; shape: uniform(1)
    v13: i64 = urem v4, v11 ; shape: contiguous(8)
    v14: i32 = udiv v5, v2 ; shape: uniform(1)
    v15: i32 = urem v5, v3 ; shape: varying
    v16: i64 = query.local_size 0 ; shape: uniform(16)
    v17: i64 = query.global_size 0 ; shape: uniform(16)
    v18: i64 = query.local_size 1 ; shape: uniform(1)
    v19: i64 = urem v4, v16 ; shape: contiguous(8)
    v20: i1 = icmp.slt v5, v3 ; shape: varying
    v21: i1 = icmp.slt v5, v2 ; shape: uniform(1)
    br v21, b1, b2
  b1:
    jump b3
  b2:
    jump b3
  b3:
    br v20, b4, b5 ; divergent: branch
  b4: ; divergent: block
    jump b6
  b5: ; divergent: block
    jump b6
  b6: ; divergent: join
    return
  }
}
