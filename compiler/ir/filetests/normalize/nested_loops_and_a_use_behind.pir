; test: normalize
; stage: regions
; The inner loop's exit edge is the outer one's back edge; a value of the inner loop is used behind both.
; run: nested(zeros(16), 3:i32) global=4 local=4 => [4, 4, 4, 4]:i32

kernel "nested" {
  args 12
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    v2: i64 = query.local_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    jump b1(0)
  b1(v5: i32):
    jump b2(v5)
  b2(v6: i32):
    v7: i32 = add v6, 1
    v8: i1 = icmp.sgt v7, v1
    br v8, b4, b3
  b3:
    v9: i32 = and v7, 1
    v10: i1 = icmp.eq v9, 0:i32
    br v10, b1(v7), b2(v7)
  b4:
    store v7 to v4 align 4
    return
  }
}

; output: normalize
; kernel "nested" {
;   args 12
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "n" value "int" size 4 align 4 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32):
;     v2: i64 = query.local_id 0
;     v3: i64 = shl v2, 2
;     v4: ptr.global = ptradd v0, v3
;     jump b1(0)
;   b1(v5: i32):
;     jump b2(v5)
;   b2(v6: i32):
;     v7: i32 = add v6, 1
;     v8: i1 = icmp.sgt v7, v1
;     br v8, b4(v7), b3
;   b3:
;     v9: i32 = and v7, 1
;     v10: i1 = icmp.eq v9, 0:i32
;     br v10, b5(v7), b6
;   b4(v14: i32):
;     store v14 to v4 align 4
;     return
;   b5(v15: i32):
;     jump b1(v15)
;   b6:
;     jump b2(v7)
;   }
; }
