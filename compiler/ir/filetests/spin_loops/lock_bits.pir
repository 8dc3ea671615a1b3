; test: spin_loops
; A bit that is a lock: what is expected is not what was read, or the exchange is not tried while the bit is set. A count that
; is taken back is a lock as well.

kernel "k" {
  args 12
  param "p" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    v2: i32 = load.acquire v0 align 4
    v3: i32 = and v2, -2:i32
    jump b1(v3)
  b1(v4: i32): ; waits: yes
    v5: i32 = or v4, 1:i32
    v6: i32, v7: i1 = atomic_cas.acquire.relaxed v0, v4, v5 align 4
    v8: i32 = and v6, -2:i32
    br v7, b2, b1(v8)
  b2: ; waits: yes
    v9: i32 = load.relaxed v0 align 4
    v10: i32 = and v9, 1:i32
    v11: i1 = icmp.eq v10, 0:i32
    br v11, b3, b2
  b3:
    v12: i32 = or v9, 1:i32
    v13: i32, v14: i1 = atomic_cas.acquire.relaxed v0, v9, v12 align 4
    br v14, b4, b2
  b4: ; waits: yes
    v15: i32 = atomic_rmw.add.acquire v0, 1:i32 align 4
    v16: i1 = icmp.eq v15, 0:i32
    br v16, b6, b5
  b5:
    v17: i32 = atomic_rmw.sub.relaxed v0, 1:i32 align 4
    jump b4
  b6:
    return
  }
}
