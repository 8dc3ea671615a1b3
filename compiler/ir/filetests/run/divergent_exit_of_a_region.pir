; test: run
; stage: regions
; After the barriers pass: all items must agree on the next region, and a live slot must have been stored.
; run: diverge(0:i32) global=2 local=2 => error: divergent barrier: this one waits before r2, work-item [0, 0, 0] waits before r1 in work-item (1, 0, 0) at r2, b0
; run: diverge(1:i32) global=2 local=2 => error: divergent barrier: this one has finished, work-item [0, 0, 0] waits before r1 in work-item (1, 0, 0) at r0, b3
; run: diverge(0:i32) global=1 local=1 => error: undefined: ls0 was never stored in work-item (0, 0, 0) at r1, b0

kernel "diverge" {
  args 4
  param "n" value "int" size 4 align 4 offset 0
  input value(0, 0): i32
  live ls0: i32
  region r0 {
  b0(v0: i32):
    v1: i64 = query.local_id 0
    v2: i1 = icmp.eq v1, 0:i64
    br v2, b1, b4
  b1:
    exit r1
  b2:
    live_store ls0, v0
    exit r2
  b3:
    return
  b4:
    v3: i1 = icmp.eq v0, 0:i32
    br v3, b2, b3
  }
  region r1 {
  b0(v0: i32):
    v1: i32 = live_load ls0
    return
  }
  region r2 {
  b0(v0: i32):
    return
  }
}
