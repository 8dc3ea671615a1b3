; test: interleaved_access_groups
; stage: regions
; Stores of lanes anywhere that lie in one place stay two, and so do those with an element between them. Numbers of one size become one
; store whatever their types. Two of three fields a constant distance apart are one as well.
; run: k([4, 0]:i64, [0 x 8]:i32, [0 x 6]:i32) global=2 local=2 => _, [2, 0, 5, 1065353216, 2, 0, 5, 1065353216]:i32, [8, 9, 0, 8, 9, 0]:i32

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
    store 1:i32 to v8 align 4
    store 2:i32 to v8 align 4
    store 5:i32 to v8 + 8 align 4
    store 1.0:f32 to v8 + 12 align 4
    v9: i64 = mul v3, 12
    v10: ptr.global = ptradd v2, v9
    store 8:i32 to v10 align 4
    store 9:i32 to v10 + 4 align 4
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
;     store 1:i32 to v8 align 4
;     store 2:i32 to v8 align 4
;     v20: i32 = bitcast 1.0:f32
;     store 5:i32, v20 to v8 + 8 align 4
;     v9: i64 = mul v3, 12
;     v10: ptr.global = ptradd v2, v9
;     store 8:i32, 9:i32 to v10 align 4
;     return
;   }
; }
