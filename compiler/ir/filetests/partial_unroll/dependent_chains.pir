; test: partial_unroll
; test: run
; stage: normalized
; Each iteration writes what the next one reads: they stay one behind the other.
; run: dependent_chains([0.0]:f32, [1.0 x 144]:f32) global=16 local=16 => _, _

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
  b1(v6: i64):
    v8: i64 = mul.nsw v6, 64
    v9: i64 = add.nsw v8, v4
    v11: ptr.global = ptradd.inbounds v1, v9
    v12: f32 = load v11 align 4
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
    v30: f32 = fadd v29, 1.0
    v31: f32 = fadd v30, 1.0
    v32: f32 = fadd v31, 1.0
    v33: ptr.global = ptradd.inbounds v11, 64
    store v32 to v33 align 4
    v34: i64 = add.nsw v6, 1
    v35: i1 = icmp.slt v34, 8:i64
    br v35, b2, b3
  b2:
    jump b1(v34)
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
;   b1(v6: i64):
;     v8: i64 = mul.nsw v6, 64
;     v9: i64 = add.nsw v8, v4
;     v11: ptr.global = ptradd.inbounds v1, v9
;     v12: f32 = load v11 align 4
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
;     v30: f32 = fadd v29, 1.0
;     v31: f32 = fadd v30, 1.0
;     v32: f32 = fadd v31, 1.0
;     v33: ptr.global = ptradd.inbounds v11, 64
;     store v32 to v33 align 4
;     v34: i64 = add.nsw v6, 1
;     v35: i1 = icmp.slt v34, 8:i64
;     br v35, b2, b3
;   b2:
;     jump b1(v34)
;   b3:
;     return
;   }
; }
