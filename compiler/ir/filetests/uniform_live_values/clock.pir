; test: run
; test: uniform_live_values
; stage: regions
; Each work-item, or gang, has its own reading: a group keeps none for all.
; run: k(zeros(32)) global=4 local=4 => [1, 1, 1, 1]:i64

kernel "k" {
  args 8
  param "out" pointer.global "long*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  live ls0: i64
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = clock
    live_store ls0, v1
    exit r1
  }
  region r1 {
  b0(v0: ptr.global):
    v1: i64 = live_load ls0
    v2: i64 = clock
    v3: i1 = icmp.ule v1, v2
    v4: i64 = zext v3
    v5: i64 = query.local_id 0
    v6: i64 = shl v5, 3
    v7: ptr.global = ptradd v0, v6
    store v4 to v7 align 8
    return
  }
}

; output: uniform_live_values
; kernel "k" {
;   args 8
;   param "out" pointer.global "long*" size 8 align 8 offset 0
;   input value(0, 0): ptr.global
;   live ls0: i64
;   region r0 {
;   b0(v0: ptr.global):
;     v1: i64 = clock
;     live_store ls0, v1
;     exit r1
;   }
;   region r1 {
;   b0(v0: ptr.global):
;     v1: i64 = live_load ls0
;     v2: i64 = clock
;     v3: i1 = icmp.ule v1, v2
;     v4: i64 = zext v3
;     v5: i64 = query.local_id 0
;     v6: i64 = shl v5, 3
;     v7: ptr.global = ptradd v0, v6
;     store v4 to v7 align 8
;     return
;   }
; }
