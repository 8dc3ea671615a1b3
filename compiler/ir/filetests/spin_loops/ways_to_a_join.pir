; test: spin_loops
; What was read may decide by the way that leads to a join. The first loop ends by such a parameter. In the second one the
; way decides what is done in a round, and a count whether there is another.

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
    v2: i32 = load.relaxed v0 align 4
    v3: i1 = icmp.eq v2, v1
    br v3, b2, b3(false)
  b2:
    store v1 to v0+4 align 4
    jump b3(true)
  b3(v4: i1):
    br v4, b4(0:i32), b1
  b4(v5: i32): ; waits: no
    v6: i32 = atomic_rmw.smin.relaxed v0, v5 align 4
    v7: i1 = icmp.sgt v6, v5
    br v7, b5, b6(v6)
  b5:
    store v5 to v0+4 align 4
    jump b6(v5)
  b6(v8: i32):
    store v8 to v0+8 align 4
    v9: i32 = add v5, 1:i32
    v10: i1 = icmp.slt v9, v1
    br v10, b4(v9), b7
  b7:
    return
  }
}
