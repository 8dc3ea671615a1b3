; test: function_forms
; test: run
; gangs: width(4)
; launch: ids_fit_int zero_offset full_groups local(4,1,1)
; A function that does what counts each time is called by a form also where all lanes pass the same.
; run: counts([5]:i32, [0, 0, 0, 0]:i32) global=4 local=4 => [9]:i32, [5, 6, 7, 8]:i32

function fn0 "increment" {
  input passed(0): ptr.global
  result i32
  region r0 {
  b0(v0: ptr.global):
    v1: i32 = atomic_rmw.add.relaxed v0, 1:i32 align 4
    set_results v1
    return
  }
}

kernel "counts" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  region r0 {
  b0(v0: ptr.global, v1: ptr.global):
    v2: i64 = query.global_id 0
    v3: i64 = shl v2, 2
    v4: i32 = call fn0(v0)
    v5: ptr.global = ptradd v1, v3
    store v4 to v5 align 4
    return
  }
}

; output: function_forms
; form of fn0 for (uniform) -> (varying)
; kernel "increment" {
;   input passed(0): ptr.global
;   result i32
;   region r0 {
;   b0(v0: ptr.global):
;     v1: i32 = atomic_rmw.add.relaxed v0, 1 align 4
;     set_results v1
;     return
;   }
; }
; for one work-item, or once for all lanes: ()
