; test: run
; test: barriers
; A private array keeps its contents over a barrier.
; run: keep([7, 8]:i32, local(8)) global=2 local=2 => [15, 15]:i32

kernel "keep" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "tmp" local "int*" size 8 align 128 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): ptr.local
  slot ss0 size 16 align 4
  region r0 {
  b0(v0: ptr.global, v1: ptr.local):
    v2: i64 = query.local_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd.inbounds v0, v3
    v5: ptr.private = slot_addr ss0
    v6: i32 = load v4 align 4
    v7: ptr.private = ptradd.inbounds v5, v3
    store v6 to v7 align 4
    v8: ptr.local = ptradd.inbounds v1, v3
    store v6 to v8 align 4
    barrier
    v9: i64 = xor v3, 4
    v10: ptr.local = ptradd.inbounds v1, v9
    v11: i32 = load v10 align 4
    v12: i32 = load v7 align 4
    v13: i32 = add v11, v12
    store v13 to v4 align 4
    return
  }
}

; output: barriers
; kernel "keep" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "tmp" local "int*" size 8 align 128 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.local
;   slot ss0 size 16 align 4
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.local):
;     v2: i64 = query.local_id 0
;     v3: i64 = shl v2, 2
;     v4: ptr.global = ptradd.inbounds v0, v3
;     v5: ptr.private = slot_addr ss0
;     v6: i32 = load v4 align 4
;     v7: ptr.private = ptradd.inbounds v5, v3
;     store v6 to v7 align 4
;     v8: ptr.local = ptradd.inbounds v1, v3
;     store v6 to v8 align 4
;     exit r1
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.local):
;     v7: i64 = query.local_id 0
;     v9: i64 = shl v7, 2
;     v2: i64 = xor v9, 4
;     v3: ptr.local = ptradd.inbounds v1, v2
;     v4: i32 = load v3 align 4
;     v11: ptr.private = slot_addr ss0
;     v12: ptr.private = ptradd.inbounds v11, v9
;     v5: i32 = load v12 align 4
;     v6: i32 = add v4, v5
;     v13: ptr.global = ptradd.inbounds v0, v9
;     store v6 to v13 align 4
;     return
;   }
; }
