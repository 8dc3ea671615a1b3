; test: spin_loops
; A lock waits: by an exchange, and by a compare-and-exchange that expects the same in every round. Where the next round
; expects what was found, whoever failed did so because another one got on.

kernel "k" {
  args 12
  param "p" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    jump b1
  b1: ; waits: yes
    v2: i32 = atomic_rmw.xchg.acquire v0, 1:i32 align 4
    v3: i1 = icmp.ne v2, 0:i32
    br v3, b1, b2
  b2: ; waits: yes
    v4: i32, v5: i1 = atomic_cas.acquire.relaxed v0, 0:i32, 1:i32 align 4
    br v5, b3, b2
  b3:
    v6: i32 = load v0+4 align 4
    jump b4(v6)
  b4(v7: i32): ; waits: no
    v8: i32 = add v7, v1
    v9: i32, v10: i1 = atomic_cas.relaxed.relaxed v0, v7, v8 align 4
    br v10, b5, b4(v9)
  b5: ; waits: no
    v11: i32 = load.volatile v0 align 4
    v12: i32 = add v11, v1
    v13: i32, v14: i1 = atomic_cas.relaxed.relaxed v0, v11, v12 align 4
    v15: i1 = icmp.eq v13, v11
    br v15, b6, b5
  b6:
    return
  }
}
