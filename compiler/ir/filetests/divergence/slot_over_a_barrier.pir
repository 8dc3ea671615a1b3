; test: divergence
; stage: normalized
; Written and read under a condition that a group has in common, on both sides of a barrier: the lanes share one slot (ss0).
; Where the condition parts lanes, they do not (ss1).

kernel "k" {
  args 12
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  slot ss0 size 16 align 4
  slot ss1 size 16 align 4
  region r0 {
  b0(v0: ptr.global, v1: i32): ; shape: uniform(1), uniform(1)
    v2: ptr.private = slot_addr ss0 ; shape: uniform(4)
    v3: ptr.private = slot_addr ss1 ; shape: varying
    v4: i64 = query.group_id 0 ; shape: uniform(1)
    v5: i64 = and v4, 1 ; shape: uniform(1)
    v6: i1 = icmp.eq v5, 0:i64 ; shape: uniform(1)
    br v6, b1, b2
  b1:
    store v1 to v2 align 4
    jump b3
  b2:
    jump b3
  b3:
    v7: i64 = query.local_id 0 ; shape: contiguous(8)
    v8: i64 = and v7, 1 ; shape: varying
    v9: i1 = icmp.eq v8, 0:i64 ; shape: varying
    br v9, b4, b5 ; divergent: branch
  b4: ; divergent: block
    store v1 to v3 align 4
    jump b6
  b5: ; divergent: block
    jump b6
  b6: ; divergent: join
    exit r1
  }
  region r1 {
  b0(v0: ptr.global, v1: i32): ; shape: uniform(1), uniform(1)
    v2: ptr.private = slot_addr ss0 ; shape: uniform(4)
    v3: ptr.private = slot_addr ss1 ; shape: varying
    v4: i64 = query.group_id 0 ; shape: uniform(1)
    v5: i64 = and v4, 1 ; shape: uniform(1)
    v6: i1 = icmp.eq v5, 0:i64 ; shape: uniform(1)
    br v6, b1, b2
  b1:
    v7: i32 = load v2 align 4 ; shape: uniform(1)
    store v7 to v0 align 4
    jump b3
  b2:
    jump b3
  b3:
    v8: i32 = load v3 align 4 ; shape: varying
    store v8 to v0 align 4
    return
  }
}
