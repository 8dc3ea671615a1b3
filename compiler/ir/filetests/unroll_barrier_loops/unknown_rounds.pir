; test: unroll_barrier_loops
; launch: ids_fit_int zero_offset full_groups local(8,1,1)
; test: run
; stage: regions
; How often the outer loop runs is an argument: it stays a loop, and its count is no constant. The inner loop has
; three rounds, with a region each.
; run: nested([0, 0, 0, 0]:i32, 3:i32) global=4 local=4 => [21, 21, 21, 21]:i32
; run: nested([0, 0, 0, 0]:i32, 1:i32) global=4 local=4 => [7, 7, 7, 7]:i32

kernel "nested" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  live ls0: i32 shared
  live ls1: i32 shared
  region r0 {
  b0(v0: ptr.global, v1: i32):
    live_store ls0, 0:i32
    exit r1
  }
  region r1 {
  b0(v0: ptr.global, v1: i32):
    v2: i32 = live_load ls0
    v3: i1 = icmp.ult v2, v1
    br v3, b1, b2
  b1:
    v4: i32 = add v2, 1
    live_store ls0, v4
    live_store ls1, 4:i32
    exit r2
  b2:
    return
  }
  region r2 {
  b0(v0: ptr.global, v1: i32):
    v2: i32 = live_load ls1
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: i32 = load v5 align 4
    v7: i32 = add v6, v2
    store v7 to v5 align 4
    v8: i32 = lshr v2, 1
    v9: i1 = icmp.eq v8, 0:i32
    br v9, b1, b2
  b1:
    exit r1
  b2:
    live_store ls1, v8
    exit r2
  }
}

; output: unroll_barrier_loops
; kernel "nested" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "n" value "int" size 4 align 4 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   live ls0: i32 shared
;   live ls1: i32 shared
;   region r0 {
;   b0(v0: ptr.global, v1: i32):
;     live_store ls0, 0:i32
;     exit r1
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: i32):
;     v3: i1 = icmp.ult 0:i32, v1
;     br v3, b1, b2
;   b1:
;     live_store ls0, 1:i32
;     live_store ls1, 4:i32
;     exit r2
;   b2:
;     return
;   }
;   region r2 {
;   b0(v0: ptr.global, v1: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: i32 = load v5 align 4
;     v7: i32 = add v6, 4
;     store v7 to v5 align 4
;     jump b2
;   b2:
;     live_store ls1, 2:i32
;     exit r3
;   }
;   region r3 {
;   b0(v0: ptr.global, v1: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: i32 = load v5 align 4
;     v7: i32 = add v6, 2
;     store v7 to v5 align 4
;     jump b2
;   b2:
;     live_store ls1, 1:i32
;     exit r4
;   }
;   region r4 {
;   b0(v0: ptr.global, v1: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: i32 = load v5 align 4
;     v7: i32 = add v6, 1
;     store v7 to v5 align 4
;     jump b1
;   b1:
;     exit r5
;   }
;   region r5 {
;   b0(v0: ptr.global, v1: i32):
;     v2: i32 = live_load ls0
;     v3: i1 = icmp.ult v2, v1
;     br v3, b1, b2
;   b1:
;     v4: i32 = add v2, 1
;     live_store ls0, v4
;     live_store ls1, 4:i32
;     exit r2
;   b2:
;     return
;   }
; }
