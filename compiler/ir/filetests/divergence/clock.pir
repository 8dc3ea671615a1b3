; test: divergence
; stage: normalized
; A gang reads the clock once for all its lanes, and on each of two ways. Where lanes leave a loop one by one, what they
; read last differs.

kernel "k" {
  args 8
  param "a" pointer.global "long*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global): ; shape: uniform(1)
    v1: i64 = clock ; shape: uniform(1)
    v2: i64 = query.global_id 0 ; shape: contiguous(1)
    v3: i64 = clock ; shape: uniform(1)
    v4: i64 = sub v3, v1 ; shape: uniform(1)
    jump b1(v4, 0)
  b1(v5: i64, v6: i64): ; shape: uniform(1), uniform(1) ; divergent: block loop
    v7: i64 = clock ; shape: uniform(1)
    v8: i64 = add v6, 1 ; shape: uniform(1)
    v9: i1 = icmp.ult v8, v2 ; shape: varying
    br v9, b2, b3(v7) ; divergent: branch
  b2: ; divergent: block
    jump b1(v7, v8)
  b3(v10: i64): ; shape: varying ; divergent: exit
    return
  }
}
