; test: partial_unroll
; test: run
; stage: normalized
; Each work-item adds up a row: four rounds at once, as often as four are sure. Every round is the one it was, in its order;
; those that are left are run one by one.
; run: row_sums([1, 2, 3, 4, 5, 6]:f32, [0.0, 0.0]:f32, 3:i32) global=2 local=2 => _, [6.0, 15.0]:f32
; run: row_sums([1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9]:f32, [0.0, 0.0]:f32, 9:i32) global=2 local=2 => _, [45.0, 45.0]:f32
; run: row_sums([1, 2, 3, 4, 5, 6, 7, 8]:f32, [0.0, 0.0]:f32, 4:i32) global=2 local=2 => _, [10.0, 26.0]:f32

kernel "row_sums" {
  args 24
  param "a" pointer.global "float*" size 8 align 8 offset 0
  param "out" pointer.global "float*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.global_id 0
    v4: i32 = trunc v3
    v5: i32 = mul.nsw v4, v2
    jump b1(0, 0.0)
  b1(v6: i32, v7: f32):
    v8: i32 = add.nsw v5, v6
    v9: i64 = sext v8
    v10: i64 = mul.nsw v9, 4
    v11: ptr.global = ptradd.inbounds v0, v10
    v12: f32 = load v11 align 4
    v13: f32 = fadd v7, v12
    v14: i32 = add.nsw v6, 1
    v15: i1 = icmp.slt v14, v2
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
;   args 24
;   param "a" pointer.global "float*" size 8 align 8 offset 0
;   param "out" pointer.global "float*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i32 = trunc v3
;     v5: i32 = mul.nsw v4, v2
;     v63: i32 = add 0, 1
;     v64: i32 = sub v2, v63
;     v65: i1 = icmp.slt v63, v2
;     v67: i1 = icmp.ugt v64, 2:i32
;     v68: i1 = and v65, v67
;     br v68, b6, b7
;   b1(v6: i32, v7: f32):
;     v8: i32 = add.nsw v5, v6
;     v9: i64 = sext v8
;     v10: i64 = mul.nsw v9, 4
;     v11: ptr.global = ptradd.inbounds v0, v10
;     v12: f32 = load v11 align 4
;     v13: f32 = fadd v7, v12
;     v14: i32 = add.nsw v6, 1
;     v15: i1 = icmp.slt v14, v2
;     br v15, b2, b8(v13)
;   b2:
;     jump b1(v14, v13)
;   b3(v16: f32):
;     v17: i64 = shl v3, 2
;     v18: ptr.global = ptradd v1, v17
;     store v16 to v18 align 4
;     return
;   b4(v24: i32, v25: f32):
;     v26: i32 = add.nsw v5, v24
;     v27: i64 = sext v26
;     v28: i64 = mul.nsw v27, 4
;     v29: ptr.global = ptradd.inbounds v0, v28
;     v30: f32 = load v29 align 4
;     v31: f32 = fadd v25, v30
;     v32: i32 = add.nsw v24, 1
;     v33: i1 = icmp.slt v32, v2
;     v34: i32 = add.nsw v5, v32
;     v35: i64 = sext v34
;     v36: i64 = mul.nsw v35, 4
;     v37: ptr.global = ptradd.inbounds v0, v36
;     v38: f32 = load v37 align 4
;     v39: f32 = fadd v31, v38
;     v40: i32 = add.nsw v32, 1
;     v41: i1 = icmp.slt v40, v2
;     v42: i32 = add.nsw v5, v40
;     v43: i64 = sext v42
;     v44: i64 = mul.nsw v43, 4
;     v45: ptr.global = ptradd.inbounds v0, v44
;     v46: f32 = load v45 align 4
;     v47: f32 = fadd v39, v46
;     v48: i32 = add.nsw v40, 1
;     v49: i1 = icmp.slt v48, v2
;     v50: i32 = add.nsw v5, v48
;     v51: i64 = sext v50
;     v52: i64 = mul.nsw v51, 4
;     v53: ptr.global = ptradd.inbounds v0, v52
;     v54: f32 = load v53 align 4
;     v55: f32 = fadd v47, v54
;     v56: i32 = add.nsw v48, 1
;     v57: i1 = icmp.slt v56, v2
;     v58: i32 = sub v2, v56
;     v59: i1 = icmp.slt v56, v2
;     v61: i1 = icmp.ugt v58, 3:i32
;     v62: i1 = and v59, v61
;     br v62, b9, b5(v57, v56, v55)
;   b5(v72: i1, v73: i32, v74: f32):
;     br v72, b10, b11
;   b6:
;     jump b4(0, 0.0)
;   b7:
;     jump b12(0, 0.0)
;   b8(v71: f32):
;     jump b3(v71)
;   b9:
;     jump b4(v56, v55)
;   b10:
;     jump b12(v73, v74)
;   b11:
;     jump b3(v74)
;   b12(v69: i32, v70: f32):
;     jump b1(v69, v70)
;   }
; }
