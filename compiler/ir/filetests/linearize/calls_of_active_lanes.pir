; test: divergent_loops, linearize
; test: run
; stage: normalized
; A call is made for each active lane.
; run: calls([1, 2, 3, 4, 5]:i32, [0, 0, 0, 0, 0]:i32) global=5 local=5 => [1, 2, 3, 4, 5]:i32, [7, 0, 7, 0, 7]:i32

function fn0 "stores_seven" {
  input passed(0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    store 7:i32 to v0 align 4
    return
  }
}

kernel "calls" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  region r0 {
  b0(v0: ptr.global, v1: ptr.global):
    v2: i64 = query.global_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    v5: i32 = load v4 align 4
    v6: i32 = and v5, 1
    v7: i1 = icmp.eq v6, 1:i32
    br v7, b1, b2
  b1:
    v8: ptr.global = ptradd v1, v3
    call fn0(v8)
    jump b3
  b2:
    jump b3
  b3:
    return
  }
}

; output: divergent_loops, linearize
; function fn0 "stores_seven" {
;   input passed(0): ptr.global
;   region r0 {
;   b0(v0: ptr.global):
;     store 7:i32 to v0 align 4
;     return
;   }
; }
;
; kernel "calls" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "y" pointer.global "int*" size 8 align 8 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global):
;     v2: i64 = query.global_id 0
;     v3: i64 = shl v2, 2
;     v4: ptr.global = ptradd v0, v3
;     v5: i32 = load v4 align 4
;     v6: i32 = and v5, 1
;     v7: i1 = icmp.eq v6, 1:i32
;     v13: i1 = xor v7, true
;     jump b1
;   b1 mask v7:
;     v8: ptr.global = ptradd v1, v3
;     call fn0(v8)
;     jump b2
;   b2 mask v13:
;     jump b3
;   b3:
;     return
;   }
; }
