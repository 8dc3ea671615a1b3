; test: simplify, dce
; test: run
; Casts of casts are one, or none where what comes out has the type that went in. What was cut off stays off.
; run: casts([0, 0, 0, 0, 0, 0, 0, 0]:i64, -70000:i32, 1.5:f32) global=1 local=1 => [-70000, -70000, 144, -112, 4294897296, -70000, 1069547520, -70000]:i64

kernel "casts" {
  args 16
  param "out" pointer.global "long*" size 8 align 8 offset 0
  param "x" value "int" size 4 align 4 offset 8
  param "f" value "float" size 4 align 4 offset 12
  input value(0, 0): ptr.global
  input value(1, 0): i32
  input value(2, 0): f32
  region r0 {
  b0(v0: ptr.global, v1: i32, v2: f32):
    v3: i64 = zext v1
    v4: i32 = trunc v3
    v5: i64 = sext v4
    store v5 to v0 align 8
    v6: i48 = sext v1
    v7: i32 = trunc v6
    v8: i64 = sext v7
    store v8 to v0 + 8 align 8
    v9: i16 = trunc v1
    v10: i8 = trunc v9
    v11: i16 = zext v10
    v12: i64 = zext v11
    store v12 to v0 + 16 align 8
    v13: i16 = sext v10
    v14: i64 = sext v13
    store v14 to v0 + 24 align 8
    v15: i48 = zext v1
    v16: i64 = sext v15
    store v16 to v0 + 32 align 8
    v17: i48 = trunc v5
    v18: i64 = sext v17
    store v18 to v0 + 40 align 8
    v19: i32 = bitcast v2
    v20: f32 = bitcast v19
    v21: i32 = bitcast v20
    v22: i64 = zext v21
    store v22 to v0 + 48 align 8
    v23: i32 = freeze v1
    v24: i32 = freeze v23
    v25: i64 = sext v24
    store v25 to v0 + 56 align 8
    return
  }
}

; output: simplify, dce
; kernel "casts" {
;   args 16
;   param "out" pointer.global "long*" size 8 align 8 offset 0
;   param "x" value "int" size 4 align 4 offset 8
;   param "f" value "float" size 4 align 4 offset 12
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   input value(2, 0): f32
;   region r0 {
;   b0(v0: ptr.global, v1: i32, v2: f32):
;     v5: i64 = sext v1
;     store v5 to v0 align 8
;     v8: i64 = sext v1
;     store v8 to v0 + 8 align 8
;     v10: i8 = trunc v1
;     v12: i64 = zext v10
;     store v12 to v0 + 16 align 8
;     v14: i64 = sext v10
;     store v14 to v0 + 24 align 8
;     v16: i64 = zext v1
;     store v16 to v0 + 32 align 8
;     v17: i48 = trunc v5
;     v18: i64 = sext v17
;     store v18 to v0 + 40 align 8
;     v21: i32 = bitcast v2
;     v22: i64 = zext v21
;     store v22 to v0 + 48 align 8
;     v23: i32 = freeze v1
;     v25: i64 = sext v23
;     store v25 to v0 + 56 align 8
;     return
;   }
; }
