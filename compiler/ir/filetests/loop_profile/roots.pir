; test: loop_profile
; test: run
; stage: normalized
; loops: count
; Gangs take estimates for such roots and a lane alone does not: a loop with one has to stay as it is.
; run: roots([16.0, 0.015625]:f32) global=2 local=2 => [0.125, 0.25]:f32

kernel "roots" {
  args 8
  param "x" pointer.global "float*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.global_id 0
    v2: i64 = shl v1, 2
    v3: ptr.global = ptradd v0, v2
    v4: f32 = load v3 align 4
    jump b1(v4)
  b1(v5: f32):
    v6: f32 = rsqrt v5
    v7: f32 = fmul v6, 0.5:f32
    v8: i1 = fcmp.ogt v7, 1.0:f32
    br v8, b2, b3(v7)
  b2:
    jump b1(v7)
  b3(v9: f32):
    store v9 to v3 align 4
    return
  }
}

; output: loop_profile
; kernel "roots" {
;   args 8
;   param "x" pointer.global "float*" size 8 align 8 offset 0
;   input value(0, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global):
;     v1: i64 = query.global_id 0
;     v2: i64 = shl v1, 2
;     v3: ptr.global = ptradd v0, v2
;     v4: f32 = load v3 align 4
;     jump b1(v4)
;   b1(v5: f32):
;     v6: f32 = rsqrt v5
;     v7: f32 = fmul v6, 0.5
;     v8: i1 = fcmp.ogt v7, 1.0:f32
;     br v8, b2, b3(v7)
;   b2:
;     jump b1(v7)
;   b3(v9: f32):
;     store v9 to v3 align 4
;     return
;   }
; }
