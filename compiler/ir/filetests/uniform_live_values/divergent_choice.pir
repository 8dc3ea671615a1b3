; test: run
; test: uniform_live_values
; stage: regions
; Constants that differ with the work-item's way, a count that differs with the rounds of a loop, and a local id along y:
; each work-item keeps its own. The loaded bound is one for all.
; run: ways([2, 3, 1, 0]:i32) global=2x2 local=2x2 => [113, 1014, 113, 1013]:i32

kernel "ways" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  live ls0: i32
  live ls1: i32
  live ls2: i64
  live ls3: i32
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.local_id 0
    v2: i64 = query.local_id 1
    v3: i1 = icmp.eq v1, 0:i64
    v4: i32 = load v0 align 4
    v5: i64 = shl v2, 1
    v6: i64 = add v5, v1
    v7: i64 = shl v6, 2
    v8: ptr.global = ptradd v0, v7
    v9: i32 = load v8 align 4
    br v3, b1, b2
  b1:
    jump b3(100:i32)
  b2:
    jump b3(1000:i32)
  b3(v10: i32):
    jump b4(1:i32)
  b4(v11: i32):
    v12: i32 = add v11, 1
    v13: i1 = icmp.ult v12, v9
    br v13, b5, b6
  b5:
    jump b4(v12)
  b6:
    live_store ls0, v10
    live_store ls1, v11
    live_store ls2, v2
    live_store ls3, v4
    exit r1
  }
  region r1 {
  b0(v0: ptr.global):
    v1: i32 = live_load ls0
    v2: i32 = live_load ls1
    v3: i64 = live_load ls2
    v4: i32 = live_load ls3
    v5: i64 = query.local_id 0
    v6: i64 = shl v3, 1
    v7: i64 = add v6, v5
    v8: i64 = shl v7, 2
    v9: ptr.global = ptradd v0, v8
    v10: i32 = add v1, v2
    v11: i32 = add v10, v4
    v12: i32 = add v11, 10
    store v12 to v9 align 4
    return
  }
}

; output: uniform_live_values
; kernel "ways" {
;   args 8
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   input value(0, 0): ptr.global
;   live ls0: i32
;   live ls1: i32
;   live ls2: i64
;   live ls3: i32 shared
;   region r0 {
;   b0(v0: ptr.global):
;     v1: i64 = query.local_id 0
;     v2: i64 = query.local_id 1
;     v3: i1 = icmp.eq v1, 0:i64
;     v4: i32 = load v0 align 4
;     v5: i64 = shl v2, 1
;     v6: i64 = add v5, v1
;     v7: i64 = shl v6, 2
;     v8: ptr.global = ptradd v0, v7
;     v9: i32 = load v8 align 4
;     br v3, b1, b2
;   b1:
;     jump b3(100)
;   b2:
;     jump b3(1000)
;   b3(v10: i32):
;     jump b4(1)
;   b4(v11: i32):
;     v12: i32 = add v11, 1
;     v13: i1 = icmp.ult v12, v9
;     br v13, b5, b6
;   b5:
;     jump b4(v12)
;   b6:
;     live_store ls0, v10
;     live_store ls1, v11
;     live_store ls2, v2
;     live_store ls3, v4
;     exit r1
;   }
;   region r1 {
;   b0(v0: ptr.global):
;     v1: i32 = live_load ls0
;     v2: i32 = live_load ls1
;     v3: i64 = live_load ls2
;     v4: i32 = live_load ls3
;     v5: i64 = query.local_id 0
;     v6: i64 = shl v3, 1
;     v7: i64 = add v6, v5
;     v8: i64 = shl v7, 2
;     v9: ptr.global = ptradd v0, v8
;     v10: i32 = add v1, v2
;     v11: i32 = add v10, v4
;     v12: i32 = add v11, 10
;     store v12 to v9 align 4
;     return
;   }
; }
