; test: interleaved_access_groups
; stage: regions
; Lanes read three neighbours each, wherever those are: one load. What lies apart from them stays a load of its own, and so
; do two of which one may be written in between.
; run: k([2, 0]:i64, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]:i32, [0 x 4]:i32) global=2 local=2 => _, _, [46, 9, 38, 5]:i32

kernel "k" {
  args 24
  param "at" pointer.global "long*" size 8 align 8 offset 0
  param "x" pointer.global "int*" size 8 align 8 offset 8
  param "y" pointer.global "int*" size 8 align 8 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): ptr.global
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: ptr.global):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 3
    v5: ptr.global = ptradd v0, v4
    v6: i64 = load v5 align 8
    v7: i64 = shl v6, 2
    v8: ptr.global = ptradd v1, v7
    v9: i32 = load v8 + 32 align 4
    v10: i32 = load v8 + 24 align 4
    v11: i32 = load v8 + 28 align 4
    v12: i32 = load v8 + 52 align 4
    v13: i32 = add v9, v10
    v14: i32 = add v11, v12
    v15: i32 = add v13, v14
    v16: ptr.global = ptradd v2, v4
    v17: i32 = load v8 + 4 align 4
    store v15 to v16 align 4
    v18: i32 = load v8 + 8 align 4
    v19: i32 = add v17, v18
    store v19 to v16 + 4 align 4
    return
  }
}

; output: interleaved_access_groups
; kernel "k" {
;   args 24
;   param "at" pointer.global "long*" size 8 align 8 offset 0
;   param "x" pointer.global "int*" size 8 align 8 offset 8
;   param "y" pointer.global "int*" size 8 align 8 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: ptr.global):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 3
;     v5: ptr.global = ptradd v0, v4
;     v6: i64 = load v5 align 8
;     v7: i64 = shl v6, 2
;     v8: ptr.global = ptradd v1, v7
;     v10: i32, v11: i32, v9: i32 = load v8 + 24 align 4
;     v12: i32 = load v8 + 52 align 4
;     v13: i32 = add v9, v10
;     v14: i32 = add v11, v12
;     v15: i32 = add v13, v14
;     v16: ptr.global = ptradd v2, v4
;     v17: i32 = load v8 + 4 align 4
;     store v15 to v16 align 4
;     v18: i32 = load v8 + 8 align 4
;     v19: i32 = add v17, v18
;     store v19 to v16 + 4 align 4
;     return
;   }
; }
