; test: spin_loops
; Taking tasks from a counter is no waiting, whatever number of them. Adding nothing is reading, and so is what keeps the
; greater of two.

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
    v2: i32 = atomic_rmw.add.relaxed v0, 1:i32 align 4
    v3: i1 = icmp.slt v2, v1
    br v3, b1, b2
  b2: ; waits: no
    v4: i32 = atomic_rmw.sub.relaxed v0, v1 align 4
    v5: i1 = icmp.sgt v4, 0:i32
    br v5, b2, b3
  b3: ; waits: yes
    v6: i32 = atomic_rmw.add.relaxed v0, 0:i32 align 4
    v7: i1 = icmp.slt v6, v1
    br v7, b3, b4
  b4: ; waits: yes
    v8: i32 = atomic_rmw.smax.relaxed v0, 0:i32 align 4
    v9: i1 = icmp.slt v8, v1
    br v9, b4, b5
  b5:
    return
  }
}
