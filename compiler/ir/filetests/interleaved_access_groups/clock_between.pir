; test: interleaved_access_groups
; stage: regions
; What is between two readings of the clock stays there: the loads on both sides of one are no group.
; run: k([1, 2, 3, 4]:i32, [0 x 4]:i32) global=2 local=2 => _, [1, 2, 3, 4]:i32

kernel "k" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  region r0 {
  b0(v0: ptr.global, v1: ptr.global):
    v2: i64 = query.global_id 0
    v3: i64 = shl v2, 3
    v4: ptr.global = ptradd v0, v3
    v5: ptr.global = ptradd v1, v3
    v6: i32 = load v4 align 4
    v7: i64 = clock
    v8: i32 = load v4 + 4 align 4
    store v6 to v5 align 4
    store v8 to v5 + 4 align 4
    return
  }
}

; output: interleaved_access_groups
; kernel "k" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "y" pointer.global "int*" size 8 align 8 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global):
;     v2: i64 = query.global_id 0
;     v3: i64 = shl v2, 3
;     v4: ptr.global = ptradd v0, v3
;     v5: ptr.global = ptradd v1, v3
;     v6: i32 = load v4 align 4
;     v7: i64 = clock
;     v8: i32 = load v4 + 4 align 4
;     store v6, v8 to v5 align 4
;     return
;   }
; }
