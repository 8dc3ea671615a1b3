; test: branch_fusion
; test: fusions
; test: run
; stage: normalized
; Both sides divide: one division for the lanes of both, with a select for the operand that differs. What only one side does
; stands after it, for all lanes.
; run: one_operation([1, 8, 3, 16]:f32, [2, 2, 6, 4]:f32, 2.0:f32) global=4 local=4 => [2.0, 8.0, 2.0, 12.0]:f32, _

kernel "one_operation" {
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
    br v9, b1, b2 ; fusion: 2 of 3 and 4 instructions, profit 36
  b1:
    v10: f32 = fdiv v6, v2
    v11: f32 = fdiv v8, v10
    v12: f32 = fmul v11, 0.5
    jump b3(v12)
  b2:
    v13: f32 = fdiv v6, v8
    v14: f32 = fdiv v6, v13
    v15: f32 = fadd v14, 2.0
    v16: f32 = fmul v15, v2
    jump b3(v16)
  b3(v17: f32):
    store v17 to v5 align 4
    return
  }
}

; output: branch_fusion
; kernel "one_operation" {
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
;     v21: f32 = select v9, v2, v8
;     v22: f32 = fdiv v6, v21
;     v23: f32 = select v9, v8, v6
;     v24: f32 = fdiv v23, v22
;     v25: f32 = fmul v24, 0.5
;     v26: f32 = fadd v24, 2.0
;     v27: f32 = fmul v26, v2
;     v28: f32 = select v9, v25, v27
;     jump b3(v28)
;   b3(v17: f32):
;     store v17 to v5 align 4
;     return
;   }
; }
