; test: function_forms
; test: run
; gangs: width(4)
; A form calls a form: with a mask where its own lanes go different ways. Gangs at the end of a row call by mask too.
; run: nested([3, 0, 4, 0, 7]:i32) global=5 local=5 => [30, 0, 4, 0, 70]:i32

function fn0 "ten_times" {
  input passed(0): i32
  result i32
  region r0 {
  b0(v0: i32):
    v1: i32 = mul v0, 10
    set_results v1
    return
  }
}

function fn1 "odd_ones_ten_times" {
  input passed(0): i32
  result i32
  region r0 {
  b0(v0: i32):
    v1: i32 = and v0, 1
    v2: i1 = icmp.eq v1, 0:i32
    br v2, b1, b2
  b1:
    set_results v0
    return
  b2:
    v3: i32 = call fn0(v0)
    set_results v3
    return
  }
}

kernel "nested" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.global_id 0
    v2: i64 = shl v1, 2
    v3: ptr.global = ptradd v0, v2
    v4: i32 = load v3 align 4
    v5: i32 = call fn1(v4)
    store v5 to v3 align 4
    return
  }
}

; output: function_forms
; form of fn1 for (varying) -> (varying)
; kernel "odd_ones_ten_times" {
;   input passed(0): i32
;   result i32
;   region r0 {
;   b0(v0: i32):
;     v1: i32 = and v0, 1
;     v2: i1 = icmp.eq v1, 0:i32
;     v9: i1 = xor v2, true
;     jump b1
;   b1 mask v2:
;     set_results v0
;     jump b4
;   b4 mask v9:
;     v7: i1 = any true
;     br v7, b2, b5
;   b2 mask v9:
;     v3: i32 = call fn0(v0)
;     set_results v3
;     jump b3
;   b5 mask v9:
;     jump b3
;   b3:
;     return
;   }
; }
; form of fn1 for (varying, masked) -> (varying)
; kernel "odd_ones_ten_times" {
;   input passed(0): i32
;   input passed(1): i1
;   result i32
;   region r0 {
;   b3(v6: i32, v7: i1):
;     v15: i1 = xor v7, true
;     jump b6
;   b6 mask v7:
;     v9: i1 = any true
;     br v9, b0(v6), b7
;   b0(v0: i32) mask v7:
;     v1: i32 = and v0, 1
;     v2: i1 = icmp.eq v1, 0:i32
;     v12: i1 = and v7, v2
;     v13: i1 = xor v2, true
;     v14: i1 = and v7, v13
;     jump b1
;   b1 mask v12:
;     set_results v0
;     jump b8
;   b8 mask v14:
;     v10: i1 = any true
;     br v10, b2, b9
;   b2 mask v14:
;     v3: i32 = call fn0(v0)
;     set_results v3
;     jump b4
;   b9 mask v14:
;     jump b4
;   b7 mask v7:
;     jump b4
;   b4 mask v15:
;     jump b5
;   b5:
;     return
;   }
; }
; form of fn0 for (varying, masked) -> (varying)
; kernel "ten_times" {
;   input passed(0): i32
;   input passed(1): i1
;   result i32
;   region r0 {
;   b1(v3: i32, v4: i1):
;     v7: i1 = xor v4, true
;     jump b0(v3)
;   b0(v0: i32) mask v4:
;     v1: i32 = mul v0, 10
;     set_results v1
;     jump b2
;   b2 mask v7:
;     jump b3
;   b3:
;     return
;   }
; }
; for one work-item, or once for all lanes: ()
