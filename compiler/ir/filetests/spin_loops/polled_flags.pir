; test: spin_loops
; A loop that reads a flag until it is set waits, the counted one around it does not. A volatile read is as good as an
; atomic one, and one without either is not. What lies in private memory is nobody else's.

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
    store 1:i32 to v2 align 4
    jump b1(0:i32)
  b1(v3: i32): ; waits: no
    jump b2
  b2: ; waits: yes
    v4: i32 = load.acquire v0 align 4
    v5: i1 = icmp.ne v4, v3
    br v5, b2, b3
  b3: ; waits: yes
    v6: i32 = load.volatile v0+4 align 4
    v7: i1 = icmp.ne v6, v3
    br v7, b3, b4
  b4: ; waits: no
    v8: i32 = load v0+8 align 4
    v9: i1 = icmp.ne v8, v3
    br v9, b4, b5
  b5: ; waits: no
    v10: i32 = load.volatile v2 align 4
    v11: i1 = icmp.ne v10, v3
    br v11, b5, b6
  b6:
    v12: i32 = add v3, 1:i32
    v13: i1 = icmp.slt v12, v1
    br v13, b1(v12), b7
  b7:
    return
  }
}
