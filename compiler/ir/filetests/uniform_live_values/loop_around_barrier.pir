; test: run
; test: uniform_live_values
; stage: regions
; The loop's distance is the same for all work-items, and what each found is not. The group keeps the one once.
; run: sums([1, 2, 3, 4]:i32, local(16)) global=4 local=4 => [1, 3, 6, 10]:i32

kernel "sums" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "tmp" local "int*" size 8 align 128 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): ptr.local
  live ls0: i64
  live ls1: i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.local):
    v2: i64 = query.local_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    v5: i32 = load v4 align 4
    v6: ptr.local = ptradd v1, v3
    store v5 to v6 align 4
    live_store ls0, 1:i64
    live_store ls1, v5
    exit r1
  }
  region r1 {
  b0(v0: ptr.global, v1: ptr.local):
    v2: i64 = live_load ls0
    v3: i32 = live_load ls1
    v4: i64 = query.local_id 0
    v5: i1 = icmp.ult v4, v2
    br v5, b2(0:i32), b1
  b1:
    v6: i64 = sub v4, v2
    v7: i64 = shl v6, 2
    v8: ptr.local = ptradd v1, v7
    v9: i32 = load v8 align 4
    jump b2(v9)
  b2(v10: i32):
    v11: i32 = add v3, v10
    live_store ls0, v2
    live_store ls1, v11
    exit r2
  }
  region r2 {
  b0(v0: ptr.global, v1: ptr.local):
    v2: i64 = live_load ls0
    v3: i32 = live_load ls1
    v4: i64 = query.local_id 0
    v5: i64 = shl v4, 2
    v6: ptr.local = ptradd v1, v5
    store v3 to v6 align 4
    v7: i64 = shl v2, 1
    v8: i64 = query.local_size 0
    v9: i1 = icmp.ult v7, v8
    br v9, b1, b2
  b1:
    live_store ls0, v7
    live_store ls1, v3
    exit r1
  b2:
    v10: ptr.global = ptradd v0, v5
    store v3 to v10 align 4
    return
  }
}

; output: uniform_live_values
; kernel "sums" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "tmp" local "int*" size 8 align 128 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.local
;   live ls0: i64 shared
;   live ls1: i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.local):
;     v2: i64 = query.local_id 0
;     v3: i64 = shl v2, 2
;     v4: ptr.global = ptradd v0, v3
;     v5: i32 = load v4 align 4
;     v6: ptr.local = ptradd v1, v3
;     store v5 to v6 align 4
;     live_store ls0, 1:i64
;     live_store ls1, v5
;     exit r1
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.local):
;     v2: i64 = live_load ls0
;     v3: i32 = live_load ls1
;     v4: i64 = query.local_id 0
;     v5: i1 = icmp.ult v4, v2
;     br v5, b2(0), b1
;   b1:
;     v6: i64 = sub v4, v2
;     v7: i64 = shl v6, 2
;     v8: ptr.local = ptradd v1, v7
;     v9: i32 = load v8 align 4
;     jump b2(v9)
;   b2(v10: i32):
;     v11: i32 = add v3, v10
;     live_store ls0, v2
;     live_store ls1, v11
;     exit r2
;   }
;   region r2 {
;   b0(v0: ptr.global, v1: ptr.local):
;     v2: i64 = live_load ls0
;     v3: i32 = live_load ls1
;     v4: i64 = query.local_id 0
;     v5: i64 = shl v4, 2
;     v6: ptr.local = ptradd v1, v5
;     store v3 to v6 align 4
;     v7: i64 = shl v2, 1
;     v8: i64 = query.local_size 0
;     v9: i1 = icmp.ult v7, v8
;     br v9, b1, b2
;   b1:
;     live_store ls0, v7
;     live_store ls1, v3
;     exit r1
;   b2:
;     v10: ptr.global = ptradd v0, v5
;     store v3 to v10 align 4
;     return
;   }
; }
