; test: normalize
; stage: regions
; Critical edges are split, latches merged; the value that is used behind the loop goes through the exits.
; run: exits(zeros(16), 5:i32) global=4 local=4 => [2, 0, 5, 5]:i32

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
    store v6 to v4 align 4
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
;     br v11, b8(v6), b9
;   b4:
;     v12: i1 = icmp.eq v5, 1:i32
;     br v12, b10(v6), b11
;   b5(v18: i32):
;     store v18 to v4 align 4
;     jump b7
;   b6(v19: i32):
;     store v19 to v4 align 4
;     jump b7
;   b7:
;     return
;   b8(v20: i32):
;     jump b6(v20)
;   b9:
;     jump b12(v9)
;   b10(v21: i32):
;     jump b6(v21)
;   b11:
;     jump b12(v9)
;   b12(v17: i32):
;     jump b1(v17)
;   }
; }
