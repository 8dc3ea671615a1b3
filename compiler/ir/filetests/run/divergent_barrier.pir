; test: run
; Items that wait at different barriers, or wait while others have finished, are an error.
; run: diverge(0:i32) global=4 local=4 => error: divergent barrier: this one has finished, work-item [0, 0, 0] waits at the barrier i3 of r0 in work-item (1, 0, 0) at r0, b2
; run: diverge(0:i32) global=1 local=1 =>
; run: diverge(1:i32) global=4 local=4 => error: divergent barrier: this one waits at the barrier i4 of r0, work-item [0, 0, 0] waits at the barrier i3 of r0 in work-item (1, 0, 0) at r0, b3

kernel "diverge" {
  args 4
  param "n" value "int" size 4 align 4 offset 0
  input value(0, 0): i32
  region r0 {
  b0(v0: i32):
    v1: i64 = query.local_id 0
    v2: i1 = icmp.eq v1, 0:i64
    v3: i1 = icmp.eq v0, 0:i32
    br v2, b1, b4
  b1:
    barrier
    return
  b2:
    return
  b3:
    barrier
    return
  b4:
    br v3, b2, b3
  }
}
