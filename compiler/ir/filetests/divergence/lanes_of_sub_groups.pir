; test: divergence
; stage: normalized
; What all lanes get alike is uniform: ballots, reductions of the gang, what one lane holds, and what all hold.

kernel "k" {
  args 8
  param "a" pointer.global "float*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global): ; shape: uniform(1)
    v1: i64 = query.linear_id 0 ; shape: contiguous(1)
    v2: i32 = trunc v1 ; shape: contiguous(1)
    v3: i1 = icmp.ult v2, 9:i32 ; shape: varying
    v4: i64 = ballot v3 ; shape: uniform(1)
    v5: i32 = across.reduce.add v2 ; shape: uniform(1)
    v6: i32 = across.reduce.add.of4 v2 ; shape: varying
    v7: i32 = across.inclusive.smax v2 ; shape: varying
    v8: i32 = shuffle v2, v4 ; shape: uniform(1)
    v9: i64 = mul v1, v1 ; shape: varying
    v10: i32 = shuffle v2, v9 ; shape: varying
    v11: i32 = shuffle v5, v9 ; shape: uniform(1)
    gang_barrier
    return
  }
}
