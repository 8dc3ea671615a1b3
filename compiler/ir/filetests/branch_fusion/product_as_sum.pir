; test: branch_fusion
; test: fusions
; test: run
; stage: normalized
; A product is one with a sum of products whose third operand is -0.0.
; run: product_as_sum([1, 8, 3, 16]:f32, [2, 2, 6, 4]:f32, 2.0:f32) global=4 local=4 => [2.0, 19.0, 18.0, 67.0]:f32, _

kernel "product_as_sum" {
  args 24
  param "x" pointer.global "float*" size 8 align 8 offset 0
  param "y" pointer.global "float*" size 8 align 8 offset 8
  param "u" value "float" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): f32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: f32):
    v3: i64 = query.global_id 0
    v4: i64 = shl.nsw.nuw v3, 2
    v5: ptr.global = ptradd.inbounds v0, v4
    v6: f32 = load v5 align 4
    v7: ptr.global = ptradd.inbounds v1, v4
    v8: f32 = load v7 align 4
    v9: i1 = fcmp.olt v6, v8
    br v9, b1, b2 ; fusion: 2 of 3 and 3 instructions, profit 20
  b1:
    v10: f32 = fmul v6, v8
    v11: f32 = fdiv v10, v2
    v12: f32 = fmul v11, 2.0
    jump b3(v12)
  b2:
    v13: f32 = fma v6, v8, 2.0
    v14: f32 = fdiv v13, v2
    v15: f32 = fma v14, v2, 1.0
    jump b3(v15)
  b3(v16: f32):
    store v16 to v5 align 4
    return
  }
}

; output: branch_fusion
; kernel "product_as_sum" {
;   args 24
;   param "x" pointer.global "float*" size 8 align 8 offset 0
;   param "y" pointer.global "float*" size 8 align 8 offset 8
;   param "u" value "float" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): f32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: f32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl.nsw.nuw v3, 2
;     v5: ptr.global = ptradd.inbounds v0, v4
;     v6: f32 = load v5 align 4
;     v7: ptr.global = ptradd.inbounds v1, v4
;     v8: f32 = load v7 align 4
;     v9: i1 = fcmp.olt v6, v8
;     v21: f32 = select v9, -0.0, 2.0
;     v22: f32 = fma v6, v8, v21
;     v23: f32 = fdiv v22, v2
;     v24: f32 = fmul v23, 2.0
;     v25: f32 = fma v23, v2, 1.0
;     v26: f32 = select v9, v24, v25
;     jump b3(v26)
;   b3(v16: f32):
;     store v16 to v5 align 4
;     return
;   }
; }
