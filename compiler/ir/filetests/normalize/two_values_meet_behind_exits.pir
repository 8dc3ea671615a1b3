; test: normalize
; stage: regions
; Two values of a loop with two exits are used where the exits meet.
; run: meet(zeros(16), 5:i32) global=4 local=4 => [22, 23, 24, 25]:i32

kernel "meet" {
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
    v8: i64 = sext v6
    v9: i1 = icmp.sge v7, v1
    br v9, b3, b2
  b2:
    v10: i32 = add v6, 1
    v11: i1 = icmp.eq v6, 2:i32
    br v11, b4, b1(v10)
  b3:
    jump b5
  b4:
    jump b5
  b5:
    v12: i64 = mul v8, 10
    v13: i32 = trunc v12
    v14: i32 = add v13, v7
    store v14 to v4 align 4
    return
  }
}

; output: normalize
; kernel "meet" {
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
;     v8: i64 = sext v6
;     v9: i1 = icmp.sge v7, v1
;     br v9, b3(v8, v7), b2
;   b2:
;     v10: i32 = add v6, 1
;     v11: i1 = icmp.eq v6, 2:i32
;     br v11, b4(v8, v7), b6
;   b3(v22: i64, v24: i32):
;     jump b5(v22, v24)
;   b4(v23: i64, v25: i32):
;     jump b5(v23, v25)
;   b5(v20: i64, v21: i32):
;     v12: i64 = mul v20, 10
;     v13: i32 = trunc v12
;     v14: i32 = add v13, v21
;     store v14 to v4 align 4
;     return
;   b6:
;     jump b1(v10)
;   }
; }
