; test: unroll_barrier_loops
; launch: ids_fit_int zero_offset full_groups local(8,1,1)
; test: run
; stage: regions
; The first round finds a constant and the others do not: a region for it would be code for nothing.
; run: count([0, 0]:i32, 3:i32) global=2 local=2 => [3, 3]:i32

kernel "count" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  live ls0: i32 shared
  region r0 {
  b0(v0: ptr.global, v1: i32):
    live_store ls0, 0:i32
    exit r1
  }
  region r1 {
  b0(v0: ptr.global, v1: i32):
    v2: i32 = live_load ls0
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: i32 = load v5 align 4
    v7: i32 = add v6, 1
    store v7 to v5 align 4
    v8: i32 = add v2, 1
    v9: i1 = icmp.ult v8, v1
    br v9, b1, b2
  b1:
    live_store ls0, v8
    exit r1
  b2:
    return
  }
}

; output: unroll_barrier_loops
; kernel "count" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "n" value "int" size 4 align 4 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   live ls0: i32 shared
;   region r0 {
;   b0(v0: ptr.global, v1: i32):
;     live_store ls0, 0:i32
;     exit r1
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: i32):
;     v2: i32 = live_load ls0
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: i32 = load v5 align 4
;     v7: i32 = add v6, 1
;     store v7 to v5 align 4
;     v8: i32 = add v2, 1
;     v9: i1 = icmp.ult v8, v1
;     br v9, b1, b2
;   b1:
;     live_store ls0, v8
;     exit r1
;   b2:
;     return
;   }
; }
