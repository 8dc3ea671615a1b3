; test: branch_fusion
; test: fusions
; test: run
; stage: normalized
; An atomic operation that others must not pass, sides whose blocks do not correspond, a condition by which neighbouring work-items go
; the same way, and a quotient that all lanes would pay for: the branches stay.
; run: refused([1, 8, 3, 16]:i32, [2, 2, 6, 4]:i32, 2:i32) global=4 local=4 => [0, 7, 0, 15]:i32, [3, 2, 7, 4]:i32

kernel "refused" {
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
    br v9, b1, b2 ; fusion: a side has an operation that others must not pass
  b1:
    v10: i32 = add v6, 5
    v11: i32 = atomic_rmw.add.relaxed v7, 1 align 4
    v12: i32 = sub v10, v10
    jump b3(v12)
  b2:
    v13: i32 = add v6, 7
    v14: i32 = sub v13, 8
    jump b3(v14)
  b3(v15: i32):
    v16: i32 = mul v15, v15
    v17: i1 = icmp.sgt v15, 8:i32
    br v17, b4, b5 ; fusion: the sides have branches or loops that do not correspond
  b4:
    v18: i32 = mul v16, v15
    v19: i1 = icmp.sgt v18, v2
    br v19, b6, b7
  b6:
    jump b8(v15)
  b7:
    jump b8(v2)
  b5:
    v20: i32 = mul v16, v15
    jump b8(v15)
  b8(v21: i32):
    v22: i1 = icmp.slt v3, 2:i64
    br v22, b9, b10 ; fusion: neighbouring work-items go the same way
  b9:
    v23: i32 = udiv v21, v2
    v24: i32 = mul v23, v2
    v25: i32 = sub v21, v24
    v26: i32 = add v24, v25
    jump b11(v26)
  b10:
    v27: i32 = udiv v21, v2
    v28: i32 = mul v27, v2
    v29: i32 = sub v21, v28
    v30: i32 = add v28, v29
    jump b11(v30)
  b11(v31: i32):
    v32: i1 = icmp.sgt v31, 5:i32
    br v32, b12, b13 ; fusion: it would save 0 of 50
  b12:
    v33: i32 = udiv v31, 3
    v34: i32 = add v33, 1
    v35: i32 = sub v31, v34
    v36: i32 = add v35, v34
    jump b14(v36)
  b13:
    v37: i32 = add v31, v2
    v38: i32 = sub v37, v2
    jump b14(v38)
  b14(v39: i32):
    store v39 to v5 align 4
    return
  }
}

; output: branch_fusion
; kernel "refused" {
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
;     br v9, b1, b2
;   b1:
;     v10: i32 = add v6, 5
;     v11: i32 = atomic_rmw.add.relaxed v7, 1 align 4
;     v12: i32 = sub v10, v10
;     jump b3(v12)
;   b2:
;     v13: i32 = add v6, 7
;     v14: i32 = sub v13, 8
;     jump b3(v14)
;   b3(v15: i32):
;     v16: i32 = mul v15, v15
;     v17: i1 = icmp.sgt v15, 8:i32
;     br v17, b4, b5
;   b4:
;     v18: i32 = mul v16, v15
;     v19: i1 = icmp.sgt v18, v2
;     br v19, b6, b7
;   b6:
;     jump b8(v15)
;   b7:
;     jump b8(v2)
;   b5:
;     v20: i32 = mul v16, v15
;     jump b8(v15)
;   b8(v21: i32):
;     v22: i1 = icmp.slt v3, 2:i64
;     br v22, b9, b10
;   b9:
;     v23: i32 = udiv v21, v2
;     v24: i32 = mul v23, v2
;     v25: i32 = sub v21, v24
;     v26: i32 = add v24, v25
;     jump b11(v26)
;   b10:
;     v27: i32 = udiv v21, v2
;     v28: i32 = mul v27, v2
;     v29: i32 = sub v21, v28
;     v30: i32 = add v28, v29
;     jump b11(v30)
;   b11(v31: i32):
;     v32: i1 = icmp.sgt v31, 5:i32
;     br v32, b12, b13
;   b12:
;     v33: i32 = udiv v31, 3
;     v34: i32 = add v33, 1
;     v35: i32 = sub v31, v34
;     v36: i32 = add v35, v34
;     jump b14(v36)
;   b13:
;     v37: i32 = add v31, v2
;     v38: i32 = sub v37, v2
;     jump b14(v38)
;   b14(v39: i32):
;     store v39 to v5 align 4
;     return
;   }
; }
