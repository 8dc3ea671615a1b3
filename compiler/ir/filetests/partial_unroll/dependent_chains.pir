; test: partial_unroll
; test: run
; stage: normalized
; Each iteration writes what the next one reads: they stay one behind the other.
; run: dependent_chains([0.0]:f32, [1.0 x 18]:f32) global=2 local=2 => _, [1.0, 1.0, 21.0, 21.0, 41.0, 41.0, 61.0, 61.0, 81.0, 81.0, 101.0, 101.0, 121.0, 121.0, 141.0, 141.0, 161.0, 161.0]:f32

kernel "dependent_chains" {
  args 16
  param "a" pointer.global "float*" size 8 align 8 offset 0
  param "out" pointer.global "float*" size 8 align 8 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  region r0 {
  b0(v0: ptr.global, v1: ptr.global):
    v3: i64 = query.global_id 0
    v4: i64 = mul.nsw v3, 4
    jump b1(0)
  b1(v5: i64):
    v6: i64 = mul.nsw v5, 8
    v7: i64 = add.nsw v6, v4
    v8: ptr.global = ptradd.inbounds v1, v7
    v9: f32 = load v8 align 4
    v10: f32 = fadd v9, 1.0
    v11: f32 = fadd v10, 1.0
    v12: f32 = fadd v11, 1.0
    v13: f32 = fadd v12, 1.0
    v14: f32 = fadd v13, 1.0
    v15: f32 = fadd v14, 1.0
    v16: f32 = fadd v15, 1.0
    v17: f32 = fadd v16, 1.0
    v18: f32 = fadd v17, 1.0
    v19: f32 = fadd v18, 1.0
    v20: f32 = fadd v19, 1.0
    v21: f32 = fadd v20, 1.0
    v22: f32 = fadd v21, 1.0
    v23: f32 = fadd v22, 1.0
    v24: f32 = fadd v23, 1.0
    v25: f32 = fadd v24, 1.0
    v26: f32 = fadd v25, 1.0
    v27: f32 = fadd v26, 1.0
    v28: f32 = fadd v27, 1.0
    v29: f32 = fadd v28, 1.0
    store v29 to v8 + 8 align 4
    v30: i64 = add.nsw v5, 1
    v31: i1 = icmp.slt v30, 8:i64
    br v31, b2, b3
  b2:
    jump b1(v30)
  b3:
    return
  }
}

; output: partial_unroll
; kernel "dependent_chains" {
;   args 16
;   param "a" pointer.global "float*" size 8 align 8 offset 0
;   param "out" pointer.global "float*" size 8 align 8 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global):
;     v3: i64 = query.global_id 0
;     v4: i64 = mul.nsw v3, 4
;     jump b1(0)
;   b1(v5: i64):
;     v6: i64 = mul.nsw v5, 8
;     v7: i64 = add.nsw v6, v4
;     v8: ptr.global = ptradd.inbounds v1, v7
;     v9: f32 = load v8 align 4
;     v10: f32 = fadd v9, 1.0
;     v11: f32 = fadd v10, 1.0
;     v12: f32 = fadd v11, 1.0
;     v13: f32 = fadd v12, 1.0
;     v14: f32 = fadd v13, 1.0
;     v15: f32 = fadd v14, 1.0
;     v16: f32 = fadd v15, 1.0
;     v17: f32 = fadd v16, 1.0
;     v18: f32 = fadd v17, 1.0
;     v19: f32 = fadd v18, 1.0
;     v20: f32 = fadd v19, 1.0
;     v21: f32 = fadd v20, 1.0
;     v22: f32 = fadd v21, 1.0
;     v23: f32 = fadd v22, 1.0
;     v24: f32 = fadd v23, 1.0
;     v25: f32 = fadd v24, 1.0
;     v26: f32 = fadd v25, 1.0
;     v27: f32 = fadd v26, 1.0
;     v28: f32 = fadd v27, 1.0
;     v29: f32 = fadd v28, 1.0
;     store v29 to v8 + 8 align 4
;     v30: i64 = add.nsw v5, 1
;     v31: i1 = icmp.slt v30, 8:i64
;     br v31, b2, b3
;   b2:
;     jump b1(v30)
;   b3:
;     return
;   }
; }
