; test: branch_fusion
; test: fusions
; test: run
; stage: normalized
; Both sides have a loop of as many iterations: one loop, which stays uniform. What does not change in it is selected before it.
; run: loops([1, 8, 3, 16]:f32, [2, 2, 6, 4]:f32, 2.0:f32) global=4 local=4 => [46.0, 44.0, 510.0, 82.0]:f32, _

kernel "loops" {
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
    v10: i32 = fptosi v2
    br v9, b1, b2 ; fusion: 4 of 4 and 4 instructions, profit 36
  b1:
    jump b3(0, v6)
  b3(v11: i32, v12: f32):
    v13: f32 = fma v12, v8, v2
    v14: f32 = fma v13, v2, v2
    v15: i32 = add.nsw.nuw v11, 1
    v16: i1 = icmp.slt v15, v10
    br v16, b4, b5(v14)
  b4:
    jump b3(v15, v14)
  b5(v24: f32):
    jump b9(v24)
  b2:
    jump b6(0, v6)
  b6(v17: i32, v18: f32):
    v19: f32 = fma v18, v2, v8
    v20: f32 = fma v19, 1.0, v2
    v21: i32 = add.nsw.nuw v17, 1
    v22: i1 = icmp.slt v21, v10
    br v22, b7, b8(v20)
  b7:
    jump b6(v21, v20)
  b8(v25: f32):
    jump b9(v25)
  b9(v23: f32):
    store v23 to v5 align 4
    return
  }
}

; output: branch_fusion
; kernel "loops" {
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
;     v10: i32 = fptosi v2
;     v34: f32 = select v9, v8, v2
;     v35: f32 = select v9, v2, v8
;     v37: f32 = select v9, v2, 1.0
;     jump b10(0, v6)
;   b9(v23: f32):
;     store v23 to v5 align 4
;     return
;   b10(v31: i32, v32: f32):
;     v36: f32 = fma v32, v34, v35
;     v38: f32 = fma v36, v37, v2
;     v39: i32 = add.nsw.nuw v31, 1
;     v40: i1 = icmp.slt v39, v10
;     br v40, b11, b12(v38)
;   b11:
;     jump b10(v39, v38)
;   b12(v33: f32):
;     jump b9(v33)
;   }
; }
