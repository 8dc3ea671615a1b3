; test: branch_fusion
; test: fusions
; test: run
; stage: normalized
; A store of one side stands between two divisions of both, in a block for its lanes; a value that it needs and that is needed
; after it is handed over.
; run: store_between([1, 8, 3, 16]:f32, [2, 2, 6, 4]:f32, 2.0:f32) global=4 local=4 => [1.0, 9.0, 1.0, 17.0]:f32, [1.0, 2.0, 1.0, 4.0]:f32

kernel "store_between" {
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
    br v9, b1, b2 ; fusion: 4 of 6 and 7 instructions, profit 60
  b1:
    v10: f32 = fdiv v6, v6
    v11: f32 = fdiv v10, v10
    store v11 to v7 align 4
    v12: f32 = load v7 align 4
    v13: f32 = fdiv v12, v11
    v14: f32 = fdiv v13, v10
    jump b3(v14)
  b2:
    v15: f32 = fdiv v6, v8
    v16: f32 = fdiv v15, v8
    v17: f32 = fdiv v6, v8
    v18: f32 = fmul v17, v8
    v19: f32 = fdiv v18, v16
    v20: f32 = fmul v19, v16
    v21: f32 = fadd v20, 1.0
    jump b3(v21)
  b3(v22: f32):
    store v22 to v5 align 4
    return
  }
}

; output: branch_fusion
; kernel "store_between" {
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
;     v25: f32 = select v9, v6, v8
;     v26: f32 = fdiv v6, v25
;     v27: f32 = select v9, v26, v8
;     v28: f32 = fdiv v26, v27
;     br v9, b4, b5
;   b3(v22: f32):
;     store v22 to v5 align 4
;     return
;   b4:
;     store v28 to v7 align 4
;     v29: f32 = load v7 align 4
;     jump b6(v29)
;   b5:
;     jump b6(v6)
;   b6(v30: f32):
;     v31: f32 = select v9, v28, v8
;     v32: f32 = fdiv v30, v31
;     v33: f32 = fmul v32, v8
;     v34: f32 = select v9, v32, v33
;     v35: f32 = select v9, v26, v28
;     v36: f32 = fdiv v34, v35
;     v37: f32 = fmul v36, v28
;     v38: f32 = fadd v37, 1.0
;     v39: f32 = select v9, v36, v38
;     jump b3(v39)
;   }
; }
