; test: verify
; stage: regions
; What must be gone and what must fit after the barriers pass.

kernel "late" {
  live ls0: i32
  region r0 {
  b0:
    barrier ; error: a barrier is left after `barriers`
    live_store ls1, 1:i32 ; error: ls1 does not exist
    exit r2 ; error: r2 does not exist
  }
  region r1 {
  b0:
    v0: i64 = live_load ls0 ; error: the result must be i32, not i64
    live_store ls0, 1:i64 ; error: the operand must be i32, not i64
    v1: i32 = live_load ls0
    live_store ls0, v1
    exit r1
  }
}
