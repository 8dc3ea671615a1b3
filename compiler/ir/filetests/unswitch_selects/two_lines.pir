; test: unswitch_selects
; test: run
; stage: normalized
; An argument decides whether all work-items read forward or backward.
; run: two_lines([0, 0, 0, 0]:i32, [10, 11, 12, 13]:i32, 0:i32) global=4 local=4 => [10, 11, 12, 13]:i32, [10, 11, 12, 13]:i32
; run: two_lines([0, 0, 0, 0]:i32, [10, 11, 12, 13]:i32, 1:i32) global=4 local=4 => [13, 12, 11, 10]:i32, [10, 11, 12, 13]:i32

kernel "two_lines" {
  args 24
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  param "back" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.global_id 0
    v4: i1 = icmp.eq v2, 0:i32
    v5: i64 = sub 3:i64, v3
    v6: i64 = select v4, v3, v5
    v7: i64 = shl v6, 2
    v8: ptr.global = ptradd v1, v7
    v9: i32 = load v8 align 4
    v10: i64 = shl v3, 2
    v11: ptr.global = ptradd v0, v10
    store v9 to v11 align 4
    return
  }
}

; output: unswitch_selects
; kernel "two_lines" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "y" pointer.global "int*" size 8 align 8 offset 8
;   param "back" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i1 = icmp.eq v2, 0:i32
;     v24: i1 = freeze v4
;     br v24, b1, b2
;   b1:
;     v5: i64 = sub 3, v3
;     v7: i64 = shl v3, 2
;     v8: ptr.global = ptradd v1, v7
;     v9: i32 = load v8 align 4
;     v10: i64 = shl v3, 2
;     v11: ptr.global = ptradd v0, v10
;     store v9 to v11 align 4
;     jump b3
;   b2:
;     v15: i64 = sub 3, v3
;     v17: i64 = shl v15, 2
;     v18: ptr.global = ptradd v1, v17
;     v19: i32 = load v18 align 4
;     v20: i64 = shl v3, 2
;     v21: ptr.global = ptradd v0, v20
;     store v19 to v21 align 4
;     jump b3
;   b3:
;     return
;   }
; }
