; test: spin_loops
; All work-items of the group meet in every round, and whatever a round finds of what others wrote before the barrier it finds
; without waiting. A barrier that only some rounds come to says nothing.

kernel "k" {
  args 12
  param "p" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    jump b1
  b1: ; waits: no
    barrier
    v2: i32 = load.acquire v0 align 4
    v3: i1 = icmp.ne v2, v1
    barrier
    br v3, b1, b2
  b2: ; waits: yes
    v4: i32 = load.acquire v0 align 4
    v5: i1 = icmp.ne v4, v1
    br v5, b3, b4
  b3:
    v6: i1 = icmp.eq v4, 0:i32
    br v6, b2, b5
  b5:
    barrier
    jump b2
  b4:
    return
  }
}
