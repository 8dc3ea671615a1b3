; test: normalize
; stage: regions
; Two values of one type meet behind two exits: arguments are passed in the order of the parameters.
; run: exits(zeros(16), 5:i32) global=4 local=4 => [23, 1, 5, 5]:i32

kernel "exits" {
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
    v5: i32 = trunc v2
    jump b1(0)
  b1(v6: i32):
    v7: i32 = add v6, v5
    v8: i1 = icmp.sge v7, v1
    br v8, b5, b2
  b2:
    v9: i32 = add v6, 1
    v10: i1 = icmp.eq v7, 2:i32
    br v10, b3, b4
  b3:
    v11: i1 = icmp.eq v5, 0:i32
    br v11, b6, b1(v9)
  b4:
    v12: i1 = icmp.eq v5, 1:i32
    br v12, b6, b1(v9)
  b5:
    store v7 to v4 align 4
    return
  b6:
    v13: i32 = mul v6, 10
    v14: i32 = add v13, v9
    store v14 to v4 align 4
    return
  }
}

; output: normalize
; kernel "exits" {
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
;     v5: i32 = trunc v2
;     jump b1(0)
;   b1(v6: i32):
;     v7: i32 = add v6, v5
;     v8: i1 = icmp.sge v7, v1
;     br v8, b5(v7), b2
;   b2:
;     v9: i32 = add v6, 1
;     v10: i1 = icmp.eq v7, 2:i32
;     br v10, b3, b4
;   b3:
;     v11: i1 = icmp.eq v5, 0:i32
;     br v11, b8(v6, v9), b9
;   b4:
;     v12: i1 = icmp.eq v5, 1:i32
;     br v12, b10(v6, v9), b11
;   b5(v21: i32):
;     store v21 to v4 align 4
;     jump b7
;   b6(v22: i32, v23: i32):
;     v13: i32 = mul v22, 10
;     v14: i32 = add v13, v23
;     store v14 to v4 align 4
;     jump b7
;   b7:
;     return
;   b8(v24: i32, v26: i32):
;     jump b6(v24, v26)
;   b9:
;     jump b12(v9)
;   b10(v25: i32, v27: i32):
;     jump b6(v25, v27)
;   b11:
;     jump b12(v9)
;   b12(v20: i32):
;     jump b1(v20)
;   }
; }
