; test: divergence
; stage: normalized
; All lanes come to b3, but some of them an iteration later than others, so that it is not where they are
; together again: those that go to b2 write to ss0 while others want to read it there, and what they write to
; ss1 there is of different iterations. Those that leave first wait behind the loop.

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
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32): ; shape: uniform(1), uniform(1), uniform(1)
    v3: ptr.private = slot_addr ss0 ; shape: varying
    v4: ptr.private = slot_addr ss1 ; shape: varying
    v5: i64 = query.local_id 0 ; shape: contiguous(8)
    v6: i32 = trunc v5 ; shape: contiguous(8)
    jump b1(0:i32)
  b1(v7: i32): ; shape: uniform(1) ; divergent: block loop
    store v7 to v3 align 4
    v8: i1 = icmp.slt v7, v6 ; shape: varying
    br v8, b2, b3 ; divergent: branch
  b2: ; divergent: block
    store 7:i32 to v3 align 4
    jump b5
  b3: ; divergent: block
    v9: i32 = load v3 align 4 ; shape: varying
    store v7 to v4 align 4
    v10: i1 = icmp.sgt v7, v2 ; shape: uniform(1)
    br v10, b6, b4
  b4: ; divergent: block
    jump b5
  b5: ; divergent: block join
    v11: i32 = add v7, 1 ; shape: uniform(1)
    jump b1(v11)
  b6: ; divergent: exit
    v12: i32 = load v4 align 4 ; shape: varying
    return
  }
}
