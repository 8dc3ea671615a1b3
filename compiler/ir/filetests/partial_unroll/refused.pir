; test: partial_unroll
; test: run
; stage: normalized
; Loops that stay: lanes leave the first at different times; the second walks in steps of two elements; the third counts
; in numbers that may wrap before they are part of an address; the fourth reads side by side.
; run: refused([1, 2, 3, 4, 5, 6, 7, 8]:i32, [0, 0]:i32, 2:i32) global=2 local=2 => _, [11, 27]:i32

kernel "refused" {
  args 24
  param "a" pointer.global "int*" size 8 align 8 offset 0
  param "out" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.global_id 0
    v4: i32 = trunc v3
    v5: i32 = mul.nsw v4, v2
    v6: i32 = add v4, 1:i32
    jump b1(0, 0)
  b1(v7: i32, v8: i32):
    v9: i32 = add.nsw v5, v7
    v10: i64 = sext v9
    v11: i64 = shl v10, 2
    v12: ptr.global = ptradd v0, v11
    v13: i32 = load v12 align 4
    v14: i32 = add v8, v13
    v15: i32 = add.nsw v7, 1
    v16: i1 = icmp.slt v15, v6
    br v16, b2, b3(v14)
  b2:
    jump b1(v15, v14)
  b3(v17: i32):
    jump b4(0, v17)
  b4(v18: i32, v19: i32):
    v20: i32 = shl.nsw v18, 1
    v21: i32 = add.nsw v5, v20
    v22: i64 = sext v21
    v23: i64 = shl v22, 2
    v24: ptr.global = ptradd v0, v23
    v25: i32 = load v24 align 4
    v26: i32 = add v19, v25
    v27: i32 = add.nsw v18, 1
    v28: i1 = icmp.ne v27, v2
    br v28, b5, b6(v26)
  b5:
    jump b4(v27, v26)
  b6(v29: i32):
    jump b7(0, v29)
  b7(v30: i32, v31: i32):
    v32: i32 = add v5, v30
    v33: i64 = zext v32
    v34: i64 = shl v33, 2
    v35: ptr.global = ptradd v0, v34
    v36: i32 = load v35 align 4
    v37: i32 = add v31, v36
    v38: i32 = add v30, 1
    v39: i1 = icmp.ult v38, v2
    br v39, b8, b9(v37)
  b8:
    jump b7(v38, v37)
  b9(v40: i32):
    jump b10(0, v40)
  b10(v41: i64, v42: i32):
    v43: i64 = add v3, v41
    v44: i64 = shl v43, 2
    v45: ptr.global = ptradd v0, v44
    v46: i32 = load v45 align 4
    v47: i32 = add v42, v46
    v48: i64 = add v41, 1
    v49: i1 = icmp.ult v48, 2:i64
    br v49, b11, b12(v47)
  b11:
    jump b10(v48, v47)
  b12(v50: i32):
    v51: i64 = shl v3, 2
    v52: ptr.global = ptradd v1, v51
    store v50 to v52 align 4
    return
  }
}

; output: partial_unroll
; kernel "refused" {
;   args 24
;   param "a" pointer.global "int*" size 8 align 8 offset 0
;   param "out" pointer.global "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i32 = trunc v3
;     v5: i32 = mul.nsw v4, v2
;     v6: i32 = add v4, 1
;     jump b1(0, 0)
;   b1(v7: i32, v8: i32):
;     v9: i32 = add.nsw v5, v7
;     v10: i64 = sext v9
;     v11: i64 = shl v10, 2
;     v12: ptr.global = ptradd v0, v11
;     v13: i32 = load v12 align 4
;     v14: i32 = add v8, v13
;     v15: i32 = add.nsw v7, 1
;     v16: i1 = icmp.slt v15, v6
;     br v16, b2, b3(v14)
;   b2:
;     jump b1(v15, v14)
;   b3(v17: i32):
;     jump b4(0, v17)
;   b4(v18: i32, v19: i32):
;     v20: i32 = shl.nsw v18, 1
;     v21: i32 = add.nsw v5, v20
;     v22: i64 = sext v21
;     v23: i64 = shl v22, 2
;     v24: ptr.global = ptradd v0, v23
;     v25: i32 = load v24 align 4
;     v26: i32 = add v19, v25
;     v27: i32 = add.nsw v18, 1
;     v28: i1 = icmp.ne v27, v2
;     br v28, b5, b6(v26)
;   b5:
;     jump b4(v27, v26)
;   b6(v29: i32):
;     jump b7(0, v29)
;   b7(v30: i32, v31: i32):
;     v32: i32 = add v5, v30
;     v33: i64 = zext v32
;     v34: i64 = shl v33, 2
;     v35: ptr.global = ptradd v0, v34
;     v36: i32 = load v35 align 4
;     v37: i32 = add v31, v36
;     v38: i32 = add v30, 1
;     v39: i1 = icmp.ult v38, v2
;     br v39, b8, b9(v37)
;   b8:
;     jump b7(v38, v37)
;   b9(v40: i32):
;     jump b10(0, v40)
;   b10(v41: i64, v42: i32):
;     v43: i64 = add v3, v41
;     v44: i64 = shl v43, 2
;     v45: ptr.global = ptradd v0, v44
;     v46: i32 = load v45 align 4
;     v47: i32 = add v42, v46
;     v48: i64 = add v41, 1
;     v49: i1 = icmp.ult v48, 2:i64
;     br v49, b11, b12(v47)
;   b11:
;     jump b10(v48, v47)
;   b12(v50: i32):
;     v51: i64 = shl v3, 2
;     v52: ptr.global = ptradd v1, v51
;     store v50 to v52 align 4
;     return
;   }
; }
