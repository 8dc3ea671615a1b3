; test: run
; test: barriers
; Barriers at the beginning and the end, and two in a row, cut once.
; run: swap([1, 2]:i32) global=2 local=2 => [2, 1]:i32

kernel "swap" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  local lv0 size 8 align 4
  region r0 {
  b0(v0: ptr.global):
    barrier
    v1: i64 = query.local_id 0
    v2: i64 = shl v1, 2
    v3: ptr.global = ptradd.inbounds v0, v2
    v4: ptr.local = local_addr lv0
    v5: ptr.local = ptradd.inbounds v4, v2
    v6: i32 = load v3 align 4
    store v6 to v5 align 4
    barrier
    barrier
    v7: i64 = xor v2, 4
    v8: ptr.local = ptradd.inbounds v4, v7
    v9: i32 = load v8 align 4
    store v9 to v3 align 4
    barrier
    return
  }
}

; output: barriers
; kernel "swap" {
;   args 8
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   input value(0, 0): ptr.global
;   local lv0 size 8 align 4
;   region r0 {
;   b0(v0: ptr.global):
;     v1: i64 = query.local_id 0
;     v2: i64 = shl v1, 2
;     v3: ptr.global = ptradd.inbounds v0, v2
;     v4: ptr.local = local_addr lv0
;     v5: ptr.local = ptradd.inbounds v4, v2
;     v6: i32 = load v3 align 4
;     store v6 to v5 align 4
;     exit r1
;   }
;   region r1 {
;   b0(v0: ptr.global):
;     v4: i64 = query.local_id 0
;     v6: i64 = shl v4, 2
;     v1: i64 = xor v6, 4
;     v8: ptr.local = local_addr lv0
;     v2: ptr.local = ptradd.inbounds v8, v1
;     v3: i32 = load v2 align 4
;     v9: ptr.global = ptradd.inbounds v0, v6
;     store v3 to v9 align 4
;     return
;   }
; }
