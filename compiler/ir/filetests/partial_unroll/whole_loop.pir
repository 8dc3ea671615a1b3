; test: partial_unroll
; test: run
; stage: normalized
; Each work-item adds up a row of five: the loop runs five times whatever comes, and nothing is left of it.
; run: row_sums([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]:f32, [0.0, 0.0]:f32) global=2 local=2 => _, [15.0, 40.0]:f32

kernel "row_sums" {
  args 16
  param "a" pointer.global "float*" size 8 align 8 offset 0
  param "out" pointer.global "float*" size 8 align 8 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  region r0 {
  b0(v0: ptr.global, v1: ptr.global):
    v3: i64 = query.global_id 0
    v5: i64 = mul.nsw v3, 5
    jump b1(0, 0.0)
  b1(v6: i64, v7: f32):
    v8: i64 = add.nsw v5, v6
    v10: i64 = mul.nsw v8, 4
    v11: ptr.global = ptradd.inbounds v0, v10
    v12: f32 = load v11 align 4
    v13: f32 = fadd v7, v12
    v14: i64 = add.nsw v6, 1
    v15: i1 = icmp.slt v14, 5:i64
    br v15, b2, b3(v13)
  b2:
    jump b1(v14, v13)
  b3(v16: f32):
    v17: i64 = shl v3, 2
    v18: ptr.global = ptradd v1, v17
    store v16 to v18 align 4
    return
  }
}

; output: partial_unroll
; kernel "row_sums" {
;   args 16
;   param "a" pointer.global "float*" size 8 align 8 offset 0
;   param "out" pointer.global "float*" size 8 align 8 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global):
;     v3: i64 = query.global_id 0
;     v5: i64 = mul.nsw v3, 5
;     jump b4(0, 0.0)
;   b3(v16: f32):
;     v17: i64 = shl v3, 2
;     v18: ptr.global = ptradd v1, v17
;     store v16 to v18 align 4
;     return
;   b4(v22: i64, v23: f32):
;     v24: i64 = add.nsw v5, v22
;     v25: i64 = mul.nsw v24, 4
;     v26: ptr.global = ptradd.inbounds v0, v25
;     v27: f32 = load v26 align 4
;     v28: f32 = fadd v23, v27
;     v29: i64 = add.nsw v22, 1
;     v30: i1 = icmp.slt v29, 5:i64
;     v31: i64 = add.nsw v5, v29
;     v32: i64 = mul.nsw v31, 4
;     v33: ptr.global = ptradd.inbounds v0, v32
;     v34: f32 = load v33 align 4
;     v35: f32 = fadd v28, v34
;     v36: i64 = add.nsw v29, 1
;     v37: i1 = icmp.slt v36, 5:i64
;     v38: i64 = add.nsw v5, v36
;     v39: i64 = mul.nsw v38, 4
;     v40: ptr.global = ptradd.inbounds v0, v39
;     v41: f32 = load v40 align 4
;     v42: f32 = fadd v35, v41
;     v43: i64 = add.nsw v36, 1
;     v44: i1 = icmp.slt v43, 5:i64
;     v45: i64 = add.nsw v5, v43
;     v46: i64 = mul.nsw v45, 4
;     v47: ptr.global = ptradd.inbounds v0, v46
;     v48: f32 = load v47 align 4
;     v49: f32 = fadd v42, v48
;     v50: i64 = add.nsw v43, 1
;     v51: i1 = icmp.slt v50, 5:i64
;     v52: i64 = add.nsw v5, v50
;     v53: i64 = mul.nsw v52, 4
;     v54: ptr.global = ptradd.inbounds v0, v53
;     v55: f32 = load v54 align 4
;     v56: f32 = fadd v49, v55
;     v57: i64 = add.nsw v50, 1
;     v58: i1 = icmp.slt v57, 5:i64
;     jump b3(v56)
;   }
; }
