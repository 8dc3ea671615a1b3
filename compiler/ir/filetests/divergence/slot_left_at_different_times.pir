; test: divergence
; stage: normalized
; Lanes leave a loop one by one, in which two slots are written. What is read in the loop is uniform, of the
; lanes that are still in it (ss0); what is read behind it was written in different iterations (ss1).

kernel "k" {
  args 20
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  slot ss0 size 16 align 4
  slot ss1 size 16 align 4
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32): ; shape: uniform(1), uniform(1), uniform(1)
    v3: ptr.private = slot_addr ss0 ; shape: uniform(4)
    v4: ptr.private = slot_addr ss1 ; shape: varying
    v5: i64 = query.local_id 0 ; shape: contiguous(8)
    v6: i32 = trunc v5 ; shape: contiguous(8)
    jump b1(0:i32)
  b1(v7: i32): ; shape: uniform(1) ; divergent: block loop
    v8: i32 = and v7, 3 ; shape: uniform(1)
    v9: i64 = zext v8 ; shape: uniform(1)
    v10: i64 = shl v9, 2 ; shape: uniform(4)
    v11: ptr.private = ptradd v3, v10 ; shape: uniform(4)
    store v7 to v11 align 4
    v12: i32 = load v3 align 4 ; shape: uniform(1)
    store v12 to v4 align 4
    v13: i32 = add v7, 1 ; shape: uniform(1)
    v14: i1 = icmp.slt v13, v6 ; shape: varying
    br v14, b2, b3 ; divergent: branch
  b2: ; divergent: block
    jump b1(v13)
  b3: ; divergent: exit
    v15: i32 = load v4 align 4 ; shape: varying
    return
  }
}
