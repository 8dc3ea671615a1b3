; test: loop_profile
; test: run
; stage: normalized
; loops: count
; A loop that is left to two blocks is not counted.
; run: two_exits([3, 15, 9]:i32) global=3 local=3 => [0, 100, 0]:i32

kernel "two_exits" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.global_id 0
    v2: i64 = shl v1, 2
    v3: ptr.global = ptradd v0, v2
    v4: i32 = load v3 align 4
    jump b1(v4)
  b1(v5: i32):
    v6: i1 = icmp.eq v5, 12:i32
    br v6, b4, b2
  b2:
    v7: i32 = add v5, -1
    v8: i1 = icmp.sgt v7, 0:i32
    br v8, b3, b5
  b3:
    jump b1(v7)
  b4:
    store 100:i32 to v3 align 4
    jump b6
  b5:
    store 0:i32 to v3 align 4
    jump b6
  b6:
    return
  }
}

; output: loop_profile
; kernel "two_exits" {
;   args 8
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   input value(0, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global):
;     v1: i64 = query.global_id 0
;     v2: i64 = shl v1, 2
;     v3: ptr.global = ptradd v0, v2
;     v4: i32 = load v3 align 4
;     jump b1(v4)
;   b1(v5: i32):
;     v6: i1 = icmp.eq v5, 12:i32
;     br v6, b4, b2
;   b2:
;     v7: i32 = add v5, -1
;     v8: i1 = icmp.sgt v7, 0:i32
;     br v8, b3, b5
;   b3:
;     jump b1(v7)
;   b4:
;     store 100:i32 to v3 align 4
;     jump b6
;   b5:
;     store 0:i32 to v3 align 4
;     jump b6
;   b6:
;     return
;   }
; }
