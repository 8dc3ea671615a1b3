; test: divergence
; stage: normalized
; Both arms of a divergent branch use slots and nobody does behind. An arm that is one block has a slot for
; itself while it runs (ss0); one whose read is in another block than its write does not, since the other arm
; may run between them (ss1). A slot that is still read in a later region is out of the question (ss2).

kernel "k" {
  args 20
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  slot ss0 size 4 align 4
  slot ss1 size 4 align 4
  slot ss2 size 4 align 4
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32): ; shape: uniform(1), uniform(1), uniform(1)
    v3: ptr.private = slot_addr ss0 ; shape: uniform(4)
    v4: ptr.private = slot_addr ss1 ; shape: varying
    v5: ptr.private = slot_addr ss2 ; shape: varying
    v6: i64 = query.local_id 0 ; shape: contiguous(8)
    v7: i32 = trunc v6 ; shape: contiguous(8)
    v8: i1 = icmp.slt v7, v2 ; shape: varying
    br v8, b1, b2 ; divergent: branch
  b1: ; divergent: block
    store 1:i32 to v3 align 4
    v9: i32 = load v3 align 4 ; shape: uniform(1)
    store 1:i32 to v4 align 4
    store 1:i32 to v5 align 4
    jump b3
  b2: ; divergent: block
    store 2:i32 to v3 align 4
    v10: i32 = load v3 align 4 ; shape: uniform(1)
    store 2:i32 to v4 align 4
    v11: i32 = load v4 align 4 ; shape: varying
    store 2:i32 to v5 align 4
    jump b4
  b3: ; divergent: block
    v12: i32 = load v4 align 4 ; shape: varying
    jump b4
  b4: ; divergent: join
    exit r1
  }
  region r1 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32): ; shape: uniform(1), uniform(1), uniform(1)
    v3: ptr.private = slot_addr ss2 ; shape: varying
    v4: i32 = load v3 align 4 ; shape: varying
    return
  }
}
