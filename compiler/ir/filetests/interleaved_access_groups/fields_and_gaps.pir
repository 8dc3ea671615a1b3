; test: interleaved_access_groups
; stage: regions
; Three elements of three, in any order; two of three with a gap; what is written between stays before.
; run: k([1, 2, 3, 4, 5, 6]:i32, [0 x 6]:i32) global=2 local=2 => [2, 2, 3, 5, 5, 6]:i32, [3, 6, 2, 6, 12, 5]:i32

kernel "k" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  region r0 {
  b0(v0: ptr.global, v1: ptr.global):
    v2: i64 = query.global_id 0
    v3: i64 = mul v2, 12
    v4: ptr.global = ptradd v0, v3
    v5: ptr.global = ptradd v1, v3
    v6: i32 = load v4 + 8 align 4
    v7: i32 = load v4 align 4
    v8: i32 = load v4 + 4 align 4
    store v6 to v5 align 4
    v9: i32 = add v6, v6
    store v9 to v5 + 4 align 4
    store v8 to v5 + 8 align 4
    store v8 to v4 align 4
    v10: i32 = load v4 align 4
    v11: i32 = load v4 + 8 align 4
    store v10 to v5 + 8 align 4
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
;     v3: i64 = mul v2, 12
;     v4: ptr.global = ptradd v0, v3
;     v5: ptr.global = ptradd v1, v3
;     v7: i32, v8: i32, v6: i32 = load v4 align 4
;     v9: i32 = add v6, v6
;     store v6, v9, v8 to v5 align 4
;     store v8 to v4 align 4
;     v10: i32, v13: i32, v11: i32 = load v4 align 4
;     store v10 to v5 + 8 align 4
;     return
;   }
; }
