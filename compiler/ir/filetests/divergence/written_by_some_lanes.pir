; test: divergence
; stage: normalized
; A slot and a kept value that only some lanes write, though with uniform values; beside them, ones that all
; lanes write.

kernel "k" {
  args 4
  param "n" value "int" size 4 align 4 offset 0
  input value(0, 0): i32
  slot ss0 size 4 align 4
  slot ss1 size 4 align 4
  live ls0: i32
  live ls1: i32
  live ls2: i64
  region r0 {
  b0(v0: i32): ; shape: uniform(1)
    v1: ptr.private = slot_addr ss0 ; shape: varying
    v2: ptr.private = slot_addr ss1 ; shape: uniform(4)
    v3: i64 = query.local_id 0 ; shape: contiguous(8)
    v4: i1 = icmp.eq v3, 0:i64 ; shape: varying
    store 1:i32 to v1 align 4
    store v0 to v2 align 4
    live_store ls0, 8:i32
    live_store ls1, 8:i32
    live_store ls2, v3
    br v4, b1, b2 ; divergent: branch
  b1: ; divergent: block
    store 2:i32 to v1 align 4
    live_store ls0, 16:i32
    jump b3
  b2: ; divergent: block
    jump b3
  b3: ; divergent: join
    exit r1
  }
  region r1 {
  b0(v0: i32): ; shape: uniform(1)
    v1: ptr.private = slot_addr ss0 ; shape: varying
    v2: i32 = load v1 align 4 ; shape: varying
    v3: ptr.private = slot_addr ss1 ; shape: uniform(4)
    v4: i32 = load v3 align 4 ; shape: uniform(1)
    v5: i32 = live_load ls0 ; shape: varying
    v6: i32 = live_load ls1 ; shape: uniform(8)
    v7: i64 = live_load ls2 ; shape: contiguous(8)
    return
  }
}
