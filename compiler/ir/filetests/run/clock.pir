; test: run
; The clock goes on from one reading to the next, on each way and behind a barrier.
; run: readings(zeros(48)) global=6 local=3 => [1, 1, 1, 1, 1, 1]:i64

kernel "readings" {
  args 8
  param "out" pointer.global "long*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.global_id 0
    v2: i64 = shl v1, 3
    v3: ptr.global = ptradd v0, v2
    v4: i64 = clock
    v5: i64 = and v1, 1
    v6: i1 = icmp.eq v5, 0:i64
    br v6, b1, b2
  b1:
    v7: i64 = clock
    jump b3(v7)
  b2:
    v8: i64 = clock
    jump b3(v8)
  b3(v9: i64):
    barrier
    v10: i64 = clock
    v11: i1 = icmp.ule v4, v9
    v12: i1 = icmp.ule v9, v10
    v13: i1 = icmp.ne v4, 0:i64
    v14: i1 = and v11, v12
    v15: i1 = and v14, v13
    v16: i64 = zext v15
    store v16 to v3 align 8
    return
  }
}
