; test: spin_loops
; A round begins only after an exchange failed that expected what was read: whatever else may end the loop, somebody got on.
; The second loop may go on after its exchange did what it was to do, and polls then.

kernel "k" {
  args 12
  param "p" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    v2: i32 = load.relaxed v0 align 4
    jump b1(v2)
  b1(v3: i32): ; waits: no
    v4: i32 = load.acquire v0+4 align 4
    v5: i32 = add v3, v1
    v6: i1 = icmp.sgt v5, v4
    br v6, b5, b2
  b2:
    v7: i32, v8: i1 = atomic_cas.acq_rel.relaxed v0, v3, v5 align 4
    br v8, b3, b1(v7)
  b3: ; waits: yes
    v9: i32 = load.relaxed v0 align 4
    v10: i32 = add v9, 1:i32
    v11: i32, v12: i1 = atomic_cas.acq_rel.relaxed v0, v9, v10 align 4
    v13: i32 = load.acquire v0+4 align 4
    v14: i1 = icmp.eq v13, v1
    br v14, b4, b3
  b4:
    return
  b5:
    return
  }
}
