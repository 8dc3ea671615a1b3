; test: spin_loops
; Where a loop has a fence, plain reads are how one waits; a read that no exit depends on is none. What goes through
; private memory comes back.

kernel "k" {
  args 12
  param "p" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  slot ss0 size 4 align 4
  region r0 {
  b0(v0: ptr.global, v1: i32):
    v2: ptr.private = slot_addr ss0
    store 0:i32 to v2 align 4
    jump b1
  b1: ; waits: yes
    fence.acq_rel
    v3: i32 = load v0 align 4
    v4: i1 = icmp.eq v3, 0:i32
    br v4, b1, b2(0:i32)
  b2(v5: i32): ; waits: no
    fence.acq_rel
    v6: i32 = load v0 align 4
    store v6 to v0+4 align 4
    v7: i32 = add v5, 1:i32
    v8: i1 = icmp.slt v7, v1
    br v8, b2(v7), b3
  b3: ; waits: yes
    v9: i32 = load v2 align 4
    v10: i32 = load.acquire v0+8 align 4
    store v10 to v2 align 4
    v11: i1 = icmp.slt v9, v1
    br v11, b3, b4
  b4:
    return
  }
}
