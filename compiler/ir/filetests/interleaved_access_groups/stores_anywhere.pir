; test: interleaved_access_groups
; stage: regions
; Lanes write four neighbours each, wherever those are: one store, where the last of them stood. A load that may read them ends it, so that
; what is written after that stays a store of its own.
; run: k([4, 0]:i64, [0 x 8]:i32, [7]:i32) global=2 local=2 => _, [11, 12, 13, 7, 1, 2, 3, 7]:i32, _

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
    v9: i64 = sub 1, v3
    v10: i64 = mul v9, 10
    v11: i32 = trunc v10
    v12: i32 = sub 11, v11
    v13: i32 = sub 12, v11
    v14: i32 = sub 13, v11
    store v13 to v8 + 4 align 4
    store v12 to v8 align 4
    store v14 to v8 + 8 align 4
    store v12 to v8 + 12 align 4
    v15: i32 = load v2 align 4
    store v15 to v8 + 12 align 4
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
;     v9: i64 = sub 1, v3
;     v10: i64 = mul v9, 10
;     v11: i32 = trunc v10
;     v12: i32 = sub 11, v11
;     v13: i32 = sub 12, v11
;     v14: i32 = sub 13, v11
;     store v12, v13, v14, v12 to v8 align 4
;     v15: i32 = load v2 align 4
;     store v15 to v8 + 12 align 4
;     return
;   }
; }
