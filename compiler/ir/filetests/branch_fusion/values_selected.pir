; test: branch_fusion
; test: fusions
; test: run
; stage: normalized
; Coutinho et al. 2011, Figure 10: each side loads other elements, side by side. Both load them, and what was loaded is
; selected: lanes that load from selected addresses would load one by one.
; run: values_selected([1, 8, 3, 16]:f32, [2, 2, 6, 4]:f32, 2.0:f32) global=4 local=4 => [1.0, 8.0, 3.0, 16.0]:f32, [1.0, 5.0, 1.0, 5.0]:f32

kernel "values_selected" {
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
    v10: ptr.global = ptradd.inbounds v0, v4
    v11: ptr.global = ptradd.inbounds v1, v4
    br v9, b1, b2 ; fusion: 2 of 5 and 7 instructions, profit 34
  b1:
    v12: f32 = load v10 align 4
    v13: f32 = load v11 align 4
    v14: f32 = fmul v12, v13
    v15: f32 = fdiv v14, v13
    v16: f32 = fdiv v15, v12
    jump b3(v16)
  b2:
    v17: f32 = load v11 align 4
    v18: f32 = load v10 align 4
    v19: f32 = fmul v17, v18
    v20: f32 = fdiv v19, v17
    v21: f32 = fdiv v20, 4.0
    v22: f32 = fdiv v21, v18
    v23: f32 = fmul v22, 20.0
    jump b3(v23)
  b3(v24: f32):
    store v24 to v7 align 4
    return
  }
}

; output: branch_fusion
; kernel "values_selected" {
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
;     v10: ptr.global = ptradd.inbounds v0, v4
;     v11: ptr.global = ptradd.inbounds v1, v4
;     br v9, b4, b5
;   b3(v24: f32):
;     store v24 to v7 align 4
;     return
;   b4:
;     v28: f32 = load v10 align 4
;     v29: f32 = load v11 align 4
;     v30: f32 = fmul v28, v29
;     jump b6(v28, v29, v30, 0.0)
;   b5:
;     v31: f32 = load v11 align 4
;     v32: f32 = load v10 align 4
;     v33: f32 = fmul v31, v32
;     jump b6(4.0, v31, v33, v32)
;   b6(v34: f32, v35: f32, v36: f32, v38: f32):
;     v39: f32 = fdiv v36, v35
;     v40: f32 = fdiv v39, v34
;     v41: f32 = fdiv v40, v38
;     v42: f32 = fmul v41, 20.0
;     v43: f32 = select v9, v40, v42
;     jump b3(v43)
;   }
; }
