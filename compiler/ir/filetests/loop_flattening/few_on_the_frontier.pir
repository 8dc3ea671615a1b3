; test: normalize, width_selection, divergence, loop_profile, loop_flattening
; loops: counted(2508,80256,10032,321024) counted(4232,23146,27811,104598)
; Four of 32 lanes were at work in an iteration of the inner loop, each on rows of its own: lanes that run it one after the other take less
; than gangs whose lanes are in iterations of their own of both loops. The loops stay.

kernel "few_on_the_frontier" {
  args 40
  param "starts" pointer.global "int*" size 8 align 8 offset 0 qualifiers "const" readonly
  param "edges" pointer.global "int*" size 8 align 8 offset 8 qualifiers "const" readonly
  param "levels" pointer.global "int*" size 8 align 8 offset 16
  param "level" value "int" size 4 align 4 offset 24
  param "each" value "int" size 4 align 4 offset 28
  param "first" value "int" size 4 align 4 offset 32
  param "next" value "int" size 4 align 4 offset 36
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): ptr.global
  input value(3, 0): i32
  input value(4, 0): i32
  input value(5, 0): i32
  input value(6, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: ptr.global, v3: i32, v4: i32, v5: i32, v6: i32):
    v11: i1 = icmp.sgt v4, 0:i32
    br v11, b1, b9
  b1:
    v13: i64 = query.global_id 0
    v14: i32 = trunc v13
    v17: i32 = add.nsw v3, 1
    jump b2(v14, 0)
  b2(v7: i32, v8: i32):
    v18: i64 = sext v7
    v20: i64 = mul.nsw v18, 4
    v21: ptr.global = ptradd.inbounds v2, v20
    v22: i32 = load v21 align 4
    v23: i1 = icmp.eq v22, v3
    br v23, b3, b10
  b3:
    v24: i64 = mul.nsw v18, 4
    v25: ptr.global = ptradd.inbounds v0, v24
    v26: i32 = load v25 align 4
    v27: ptr.global = ptradd v25, 4
    v28: i32 = load v27 align 4
    v29: i1 = icmp.slt v26, v28
    br v29, b11, b12
  b4(v9: i32):
    v30: i64 = sext v9
    v31: i64 = mul.nsw v30, 4
    v32: ptr.global = ptradd.inbounds v1, v31
    v33: i32 = load v32 align 4
    v34: i64 = sext v33
    v35: i64 = mul.nsw v34, 4
    v36: ptr.global = ptradd.inbounds v2, v35
    v37: i32 = load v36 align 4
    v38: i1 = icmp.slt v37, 0:i32
    br v38, b5, b13
  b5:
    store v17 to v36 align 4
    jump b6
  b6:
    v39: i32 = add.nsw v9, 1
    v40: i32 = load v27 align 4
    v41: i1 = icmp.slt v39, v40
    br v41, b14, b15
  b7:
    v42: i32 = add.nsw.nuw v8, 1
    v43: i32 = add.nsw v7, v6
    v44: i1 = icmp.slt v42, v4
    br v44, b16, b17
  b8:
    return
  b9:
    jump b8
  b10:
    jump b7
  b11:
    jump b4(v26)
  b12:
    jump b7
  b13:
    jump b6
  b14:
    jump b4(v39)
  b15:
    jump b7
  b16:
    jump b2(v43, v42)
  b17:
    jump b8
  }
}

; output: normalize, width_selection, divergence, loop_profile, loop_flattening
; kernel "few_on_the_frontier" {
;   args 40
;   param "starts" pointer.global "int*" size 8 align 8 offset 0 qualifiers "const" readonly
;   param "edges" pointer.global "int*" size 8 align 8 offset 8 qualifiers "const" readonly
;   param "levels" pointer.global "int*" size 8 align 8 offset 16
;   param "level" value "int" size 4 align 4 offset 24
;   param "each" value "int" size 4 align 4 offset 28
;   param "first" value "int" size 4 align 4 offset 32
;   param "next" value "int" size 4 align 4 offset 36
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): ptr.global
;   input value(3, 0): i32
;   input value(4, 0): i32
;   input value(5, 0): i32
;   input value(6, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: ptr.global, v3: i32, v4: i32, v5: i32, v6: i32):
;     v11: i1 = icmp.sgt v4, 0:i32
;     br v11, b1, b9
;   b1:
;     v13: i64 = query.global_id 0
;     v14: i32 = trunc v13
;     v17: i32 = add.nsw v3, 1
;     jump b2(v14, 0)
;   b2(v7: i32, v8: i32):
;     v18: i64 = sext v7
;     v20: i64 = mul.nsw v18, 4
;     v21: ptr.global = ptradd.inbounds v2, v20
;     v22: i32 = load v21 align 4
;     v23: i1 = icmp.eq v22, v3
;     br v23, b3, b10
;   b3:
;     v24: i64 = mul.nsw v18, 4
;     v25: ptr.global = ptradd.inbounds v0, v24
;     v26: i32 = load v25 align 4
;     v27: ptr.global = ptradd v25, 4
;     v28: i32 = load v27 align 4
;     v29: i1 = icmp.slt v26, v28
;     br v29, b11, b12
;   b4(v9: i32):
;     v30: i64 = sext v9
;     v31: i64 = mul.nsw v30, 4
;     v32: ptr.global = ptradd.inbounds v1, v31
;     v33: i32 = load v32 align 4
;     v34: i64 = sext v33
;     v35: i64 = mul.nsw v34, 4
;     v36: ptr.global = ptradd.inbounds v2, v35
;     v37: i32 = load v36 align 4
;     v38: i1 = icmp.slt v37, 0:i32
;     br v38, b5, b13
;   b5:
;     store v17 to v36 align 4
;     jump b6
;   b6:
;     v39: i32 = add.nsw v9, 1
;     v40: i32 = load v27 align 4
;     v41: i1 = icmp.slt v39, v40
;     br v41, b14, b15
;   b7:
;     v42: i32 = add.nsw.nuw v8, 1
;     v43: i32 = add.nsw v7, v6
;     v44: i1 = icmp.slt v42, v4
;     br v44, b16, b17
;   b8:
;     return
;   b9:
;     jump b8
;   b10:
;     jump b7
;   b11:
;     jump b4(v26)
;   b12:
;     jump b7
;   b13:
;     jump b6
;   b14:
;     jump b4(v39)
;   b15:
;     jump b7
;   b16:
;     jump b2(v43, v42)
;   b17:
;     jump b8
;   }
; }
