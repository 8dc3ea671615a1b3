; test: simplify, dce
; test: run
; Of floats only what is of their signs goes: a sum with zero and a product with one quiet NaN. Addresses lose a zero.
; run: floats([0, 0, 0, 0, 0, 0, 0, 0]:f32, -2.5:f32) global=1 local=1 => [-2.5, 2.5, 2.5, -2.5, -2.5, -2.5, 0, 0]:f32

kernel "floats" {
  args 12
  param "out" pointer.global "float*" size 8 align 8 offset 0
  param "x" value "float" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): f32
  region r0 {
  b0(v0: ptr.global, v1: f32):
    v2: f32 = fneg v1
    v3: f32 = fneg v2
    v4: ptr.global = ptradd v0, 0
    store v3 to v4 align 4
    v5: f32 = fabs v1
    v6: f32 = fabs v5
    store v6 to v4 + 4 align 4
    v7: f32 = fabs v2
    store v7 to v4 + 8 align 4
    v8: f32 = copysign v1, v1
    store v8 to v4 + 12 align 4
    v9: f32 = fadd v1, 0.0
    store v9 to v4 + 16 align 4
    v10: f32 = fmul v1, 1.0
    store v10 to v4 + 20 align 4
    return
  }
}

; output: simplify, dce
; kernel "floats" {
;   args 12
;   param "out" pointer.global "float*" size 8 align 8 offset 0
;   param "x" value "float" size 4 align 4 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): f32
;   region r0 {
;   b0(v0: ptr.global, v1: f32):
;     store v1 to v0 align 4
;     v5: f32 = fabs v1
;     store v5 to v0 + 4 align 4
;     v7: f32 = fabs v1
;     store v7 to v0 + 8 align 4
;     store v1 to v0 + 12 align 4
;     v9: f32 = fadd v1, 0.0
;     store v9 to v0 + 16 align 4
;     v10: f32 = fmul v1, 1.0
;     store v10 to v0 + 20 align 4
;     return
;   }
; }
