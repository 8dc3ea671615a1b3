; test: spin_loops
; What is read in another place in every round is no polling: an open table, a ring, and what a pipe gives back. A place that
; moves on only when it was found ready is polled.

kernel "k" {
  args 12
  param "p" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    jump b1(v1)
  b1(v2: i32): ; waits: no
    v3: i64 = sext v2
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: i32, v7: i1 = atomic_cas.relaxed.relaxed v5, 0:i32, v1 align 4
    v8: i32 = add v2, 1:i32
    v9: i32 = and v8, 1023:i32
    br v7, b2(v1), b1(v9)
  b2(v10: i32): ; waits: no
    v11: i32 = urem v10, 7:i32
    v12: i64 = zext v11
    v13: i64 = shl v12, 2
    v14: ptr.global = ptradd v0, v13
    v15: i32 = load.acquire v14 align 4
    v16: i1 = icmp.eq v15, v10
    br v16, b3, b4(v1)
  b3:
    v17: i32 = add v10, 1:i32
    v18: i32, v19: i1 = atomic_cas.acq_rel.relaxed v0, v10, v17 align 4
    v20: i32 = select v19, v17, v18
    jump b2(v20)
  b4(v21: i32): ; waits: yes
    v22: i64 = sext v21
    v23: i64 = shl v22, 2
    v24: ptr.global = ptradd v0, v23
    v25: i32 = load.acquire v24 align 4
    v26: i1 = icmp.eq v25, 2:i32
    v27: i1 = icmp.ne v25, 0:i32
    v28: i32 = sub v21, 1:i32
    v29: i32 = select v27, v28, v21
    br v26, b5, b4(v29)
  b5:
    jump b6(v1)
  b6(v30: i32): ; waits: no
    v31: i32 = add v30, 1:i32
    v32: i32, v33: i1 = atomic_cas.seq_cst.seq_cst v0, v30, v31 align 4
    v34: i32 = zext v33
    v35: i32 = add v32, v34
    v36: i64 = zext v35
    v37: i64 = shl v36, 2
    v38: ptr.global = ptradd v0, v37
    v39: i32 = load.seq_cst v38 align 4
    v40: i1 = icmp.eq v39, v35
    br v40, b6(v35), b7
  b7:
    return
  }
}
