; test: branch_fusion
; passes: -all,branch_fusion=always
; test: fusions
; test: run
; stage: normalized
; What does not wrap on one side only may wrap, and an address of one side may lie outside of the object in the other's lanes.
; run: common_promises([1, 8, 3, 16]:i32, [2, 2, 6, 4]:i32, 2:i32) global=4 local=4 => [10, 5, 42, 17]:i32, [2, 2, 6, 4]:i32

kernel "common_promises" {
  args 24
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  param "u" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl.nsw.nuw v3, 2
    v5: ptr.global = ptradd.inbounds v0, v4
    v6: i32 = load v5 align 4
    v7: ptr.global = ptradd.inbounds v1, v4
    v8: i32 = load v7 align 4
    v9: i1 = icmp.slt v6, v8
    br v9, b1, b2 ; fusion: it would save 0 of 74
  b1:
    v10: i32 = mul.nsw.nuw v6, v6
    v11: i32 = mul.nsw v10, v8
    v12: i32 = add.nsw.nuw v11, 3
    v13: i32 = shl.nsw v10, 2
    v14: i32 = add.nsw v13, 1
    v15: i32 = add v14, v12
    v30: i32 = sub v15, v11
    v31: i32 = add v30, v2
    jump b3(v31)
  b2:
    v16: i32 = mul.nsw v8, v8
    v17: i32 = mul v16, v8
    v18: i32 = add.nuw v17, 3
    v19: i32 = sub v18, v17
    v20: i32 = add v19, v2
    v32: i32 = mul v16, v20
    v33: i32 = add v32, v20
    v34: i32 = udiv v33, v20
    v35: i32 = sub v34, v16
    v36: i32 = add v35, v16
    jump b3(v36)
  b3(v21: i32):
    store v21 to v5 align 4
    return
  }
}

; output: branch_fusion
; kernel "common_promises" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "y" pointer.global "int*" size 8 align 8 offset 8
;   param "u" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl.nsw.nuw v3, 2
;     v5: ptr.global = ptradd.inbounds v0, v4
;     v6: i32 = load v5 align 4
;     v7: ptr.global = ptradd.inbounds v1, v4
;     v8: i32 = load v7 align 4
;     v9: i1 = icmp.slt v6, v8
;     v37: i32 = select v9, v6, v8
;     v38: i32 = mul.nsw v37, v37
;     v39: i32 = mul v38, v8
;     v40: i32 = add.nuw v39, 3
;     v41: i32 = shl v38, 2
;     v42: i32 = sub v40, v39
;     v43: i32 = select v9, v41, v42
;     v44: i32 = select v9, 1, v2
;     v45: i32 = add v43, v44
;     v46: i32 = mul v38, v45
;     v47: i32 = select v9, v40, v46
;     v48: i32 = add v45, v47
;     br v9, b4, b5
;   b3(v21: i32):
;     store v21 to v5 align 4
;     return
;   b4:
;     jump b6(v48)
;   b5:
;     v49: i32 = udiv v48, v45
;     jump b6(v49)
;   b6(v50: i32):
;     v51: i32 = select v9, v39, v38
;     v52: i32 = sub v50, v51
;     v53: i32 = select v9, v2, v38
;     v54: i32 = add v52, v53
;     jump b3(v54)
;   }
; }
