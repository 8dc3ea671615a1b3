; test: branch_fusion
; test: fusions
; test: run
; stage: normalized
; `a > b` is `b < a`, and the operands of a sum may change places: nothing is selected but the divisor.
; run: either_way_round([1, 8, 3, 16]:f32, [2, 2, 6, 4]:f32, 2.0:f32) global=4 local=4 => [0.5, 4.0, 1.5, 8.0]:f32, _

kernel "either_way_round" {
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
    v9: f32 = fadd v6, v8
    v10: i1 = fcmp.olt v6, v8
    br v10, b1, b2 ; fusion: 5 of 5 and 5 instructions, profit 44
  b1:
    v11: f32 = fdiv v9, v8
    v12: f32 = fadd v11, v6
    v13: i1 = fcmp.ogt v12, v2
    v14: f32 = select v13, v6, v12
    v15: f32 = fdiv v6, v2
    jump b3(v15)
  b2:
    v16: f32 = fdiv v9, v2
    v17: f32 = fadd v6, v16
    v18: i1 = fcmp.olt v2, v17
    v19: f32 = select v18, v6, v17
    v20: f32 = fdiv v19, v2
    jump b3(v20)
  b3(v21: f32):
    store v21 to v5 align 4
    return
  }
}

; output: branch_fusion
; kernel "either_way_round" {
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
;     v9: f32 = fadd v6, v8
;     v10: i1 = fcmp.olt v6, v8
;     v23: f32 = select v10, v8, v2
;     v24: f32 = fdiv v9, v23
;     v25: f32 = fadd v24, v6
;     v26: i1 = fcmp.olt v2, v25
;     v27: f32 = select v26, v6, v25
;     v28: f32 = select v10, v6, v27
;     v29: f32 = fdiv v28, v2
;     jump b3(v29)
;   b3(v21: f32):
;     store v21 to v5 align 4
;     return
;   }
; }
