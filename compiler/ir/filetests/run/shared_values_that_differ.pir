; test: run
; stage: regions
; What a group keeps once has to be the same for all its work-items.
; run: k(null) global=3 local=3 => error: undefined: work-items keep different values in ls0 in work-item (1, 0, 0) at r1, b0

kernel "k" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  live ls0: i64 shared
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.local_id 0
    live_store ls0, v1
    exit r1
  }
  region r1 {
  b0(v0: ptr.global):
    v1: i64 = live_load ls0
    return
  }
}
