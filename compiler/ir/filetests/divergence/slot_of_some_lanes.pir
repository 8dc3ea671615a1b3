; test: divergence
; stage: normalized
; Moll 2021, figure 6.12, twice: some lanes write to a slot. What they alone read behind is uniform (ss0); where
; their state joins that of the others and is read, it is not (ss1). The last slot is written before and read
; in the other arm, so that lanes which share it would see what others wrote (ss2).

kernel "k" {
  args 20
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  slot ss0 size 8 align 4
  slot ss1 size 8 align 4
  slot ss2 size 4 align 4
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32): ; shape: uniform(1), uniform(1), uniform(1)
    v3: ptr.private = slot_addr ss0 ; shape: uniform(4)
    v4: ptr.private = slot_addr ss1 ; shape: varying
    v5: ptr.private = slot_addr ss2 ; shape: varying
    store v2, v2 to v4 align 4
    store v2 to v5 align 4
    v6: i64 = query.local_id 0 ; shape: contiguous(8)
    v7: i32 = trunc v6 ; shape: contiguous(8)
    v8: i1 = icmp.slt v7, v2 ; shape: varying
    br v8, b1, b2 ; divergent: branch
  b1: ; divergent: block
    store 1:i32, v2 to v3 align 4
    store 1:i32 to v4 align 4
    store 2:i32 to v5 align 4
    v9: i32 = load v5 align 4 ; shape: varying
    jump b3
  b2: ; divergent: block
    v10: i32 = load v5 align 4 ; shape: varying
    jump b5
  b3: ; divergent: block
    v11: i32 = load v3 align 4 ; shape: uniform(1)
    v12: i1 = icmp.eq v11, 0:i32 ; shape: uniform(1)
    br v12, b4, b6
  b4: ; divergent: block
    store 7:i32 to v3 + 4 align 4
    jump b7
  b5: ; divergent: join
    v13: i32 = load v4 align 4 ; shape: varying
    return
  b6: ; divergent: block
    jump b7
  b7: ; divergent: block
    v14: i32 = load v3 + 4 align 4 ; shape: uniform(1)
    jump b5
  }
}
