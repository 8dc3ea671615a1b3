; test: run
; test: barriers
; A barrier in one arm of a uniform choice; what is computed before the choice is needed behind it.
; run: maybe([1, 2, 3, 4]:i32, local(16), 1:i32) global=4 local=4 => [40, 60, 60, 40]:i32
; run: maybe([1, 2, 3, 4]:i32, local(16), 0:i32) global=4 local=4 => [10, 20, 30, 40]:i32

kernel "maybe" {
  args 20
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "tmp" local "int*" size 8 align 128 offset 8
  param "flag" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.local
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.local, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd.inbounds v0, v4
    v6: i32 = load v5 align 4
    v7: i32 = mul v6, 10
    v8: i1 = icmp.ne v2, 0:i32
    br v8, b1, b2(v7)
  b1:
    v9: ptr.local = ptradd.inbounds v1, v4
    store v6 to v9 align 4
    barrier
    v10: i64 = sub 3, v3
    v11: i64 = shl v10, 2
    v12: ptr.local = ptradd.inbounds v1, v11
    v13: i32 = load v12 align 4
    v14: i32 = mul v13, v7
    jump b2(v14)
  b2(v15: i32):
    store v15 to v5 align 4
    return
  }
}

; output: barriers
; kernel "maybe" {
;   args 20
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "tmp" local "int*" size 8 align 128 offset 8
;   param "flag" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.local
;   input value(2, 0): i32
;   live ls0: i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd.inbounds v0, v4
;     v6: i32 = load v5 align 4
;     v7: i32 = mul v6, 10
;     v8: i1 = icmp.ne v2, 0:i32
;     br v8, b1, b2(v7)
;   b1:
;     v9: ptr.local = ptradd.inbounds v1, v4
;     store v6 to v9 align 4
;     live_store ls0, v7
;     exit r1
;   b2(v10: i32):
;     store v10 to v5 align 4
;     return
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v10: i64 = query.global_id 0
;     v3: i64 = sub 3, v10
;     v4: i64 = shl v3, 2
;     v5: ptr.local = ptradd.inbounds v1, v4
;     v6: i32 = load v5 align 4
;     v12: i32 = live_load ls0
;     v7: i32 = mul v6, v12
;     jump b1(v7)
;   b1(v8: i32):
;     v13: i64 = shl v10, 2
;     v14: ptr.global = ptradd.inbounds v0, v13
;     store v8 to v14 align 4
;     return
;   }
; }
