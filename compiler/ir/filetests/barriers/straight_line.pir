; test: barriers
; test: regions
; test: run
; The mirror image through local memory. Addresses are computed again, nothing is kept.
; run: straight_line([1, 2, 3, 4]:i32, local(16), 0:i32) global=4 local=4 => [4, 3, 2, 1]:i32
; run: straight_line([1, 2, 3, 4, 5, 6]:i32, local(16), 0:i32) global=4 local=4 => [4, 3, 2, 1, 5, 6]:i32

kernel "straight_line" { ; regions: 2 ; live:
  args 24
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "tmp" local "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.local
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.local, v2: i32):
    v3: i64 = query.local_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: ptr.local = ptradd v1, v4
    v7: i64 = query.local_size 0
    v8: i64 = sub v7, 1
    v9: i64 = sub v8, v3
    v10: i64 = shl v9, 2
    v11: ptr.local = ptradd v1, v10
    v12: i32 = load v5 align 4
    store v12 to v6 align 4
    barrier
    v13: i32 = load v11 align 4
    store v13 to v5 align 4
    return
  }
}

; output: barriers
; kernel "straight_line" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "tmp" local "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.local
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v3: i64 = query.local_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: ptr.local = ptradd v1, v4
;     v7: i64 = query.local_size 0
;     v8: i64 = sub v7, 1
;     v9: i64 = sub v8, v3
;     v10: i64 = shl v9, 2
;     v11: ptr.local = ptradd v1, v10
;     v12: i32 = load v5 align 4
;     store v12 to v6 align 4
;     exit r1
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v7: i64 = query.local_id 0
;     v4: i64 = query.local_size 0
;     v6: i64 = sub v4, 1
;     v8: i64 = sub v6, v7
;     v10: i64 = shl v8, 2
;     v11: ptr.local = ptradd v1, v10
;     v3: i32 = load v11 align 4
;     v12: i64 = shl v7, 2
;     v13: ptr.global = ptradd v0, v12
;     store v3 to v13 align 4
;     return
;   }
; }
