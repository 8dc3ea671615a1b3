; test: function_forms
; test: run
; gangs: width(4)
; launch: ids_fit_int zero_offset full_groups local(8,1,1)
; Arguments that are uniform, strided and varying give a form each; a call with the same shapes takes the form that is there, and one
; in which all lanes pass the same needs none.
; run: shapes([3, 1, 4, 1, 5, 9, 2, 6]:i32, [0, 0, 0, 0, 0, 0, 0, 0]:i32, 10:i32) global=8 local=8 => [3, 1, 4, 1, 5, 9, 2, 6]:i32, [30, 31, 38, 33, 50, 75, 42, 72]:i32

function fn0 "element_times" {
  input passed(0): ptr.global
  input passed(1): i32
  result i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    v2: i32 = load v0 align 4
    v3: i32 = mul v2, v1
    set_results v3
    return
  }
}

kernel "shapes" {
  args 20
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: i32 = call fn0(v5, v2)
    v7: i32 = call fn0(v5, v2)
    v8: i32 = trunc v3
    v9: i32 = call fn0(v5, v8)
    v10: i32 = call fn0(v0, v2)
    v11: i32 = sub v6, v7
    v12: i32 = add v11, v9
    v13: i32 = add v12, v10
    v14: ptr.global = ptradd v1, v4
    store v13 to v14 align 4
    return
  }
}

; output: function_forms
; form of fn0 for (stride 4, uniform) -> (varying)
; kernel "element_times" {
;   input passed(0): ptr.global
;   input passed(1): i32
;   result i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32):
;     v2: i32 = load v0 align 4
;     v3: i32 = mul v2, v1
;     set_results v3
;     return
;   }
; }
; form of fn0 for (stride 4, stride 1) -> (varying)
; kernel "element_times" {
;   input passed(0): ptr.global
;   input passed(1): i32
;   result i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32):
;     v2: i32 = load v0 align 4
;     v3: i32 = mul v2, v1
;     set_results v3
;     return
;   }
; }
; for one work-item, or once for all lanes: (fn0)
