; test: function_forms
; test: run
; gangs: width(4)
; launch: ids_fit_int zero_offset full_groups local(4,1,1)
; A call under a condition has a form with a mask, of which the entry leads other lanes to the end. The second result follows from what is
; uniform alone.
; run: masks([3, 0, 4, 0]:i32, [0, 0, 0, 0]:i32, 10:i32) global=4 local=4 => [3, 0, 4, 0]:i32, [16, 0, 17, 0]:i32

function fn0 "sum_and_successor" {
  input passed(0): i32
  input passed(1): i32
  result i32
  result i32
  region r0 {
  b0(v0: i32, v1: i32):
    v2: i32 = add v0, v1
    v3: i32 = sub v1, 7
    set_results v2, v3
    return
  }
}

kernel "masks" {
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
    v6: i32 = load v5 align 4
    v7: i1 = icmp.eq v6, 0:i32
    br v7, b2, b1
  b1:
    v8: i32, v9: i32 = call fn0(v6, v2)
    v10: i32 = add v8, v9
    v11: ptr.global = ptradd v1, v4
    store v10 to v11 align 4
    jump b2
  b2:
    return
  }
}

; output: function_forms
; form of fn0 for (varying, uniform, masked) -> (varying, uniform)
; kernel "sum_and_successor" {
;   input passed(0): i32
;   input passed(1): i32
;   input passed(2): i1
;   result i32
;   result i32
;   region r0 {
;   b1(v5: i32, v6: i32, v7: i1):
;     v10: i1 = xor v7, true
;     jump b0(v5, v6)
;   b0(v0: i32, v1: i32) mask v7:
;     v2: i32 = add v0, v1
;     v3: i32 = sub v1, 7
;     set_results v2, v3
;     jump b2
;   b2 mask v10:
;     jump b3
;   b3:
;     return
;   }
; }
; for one work-item, or once for all lanes: ()
