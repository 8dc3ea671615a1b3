; test: branch_fusion
; test: fusions
; test: run
; stage: normalized
; The sides lead to different blocks, of which another way leads to the first: there is no one place where they meet.
; run: other_exits([1, 8, 3, 16]:f32, [2, 2, 6, 4]:f32, 2.0:f32) global=4 local=4 => [0.5, 2.0, 0.5, 2.0]:f32, _

kernel "other_exits" {
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
    v10: i1 = fcmp.olt v6, 20.0:f32
    br v10, b1, b2
  b1:
    br v9, b3, b4 ; fusion: the sides do not meet in one place
  b2:
    jump b5(v6)
  b3:
    v11: f32 = fdiv v6, v8
    jump b5(v11)
  b4:
    v12: f32 = fdiv v8, v8
    v13: f32 = fadd v12, 1.0
    jump b6(v13)
  b5(v14: f32):
    v15: f32 = fmul v14, 1.0
    jump b6(v15)
  b6(v16: f32):
    store v16 to v5 align 4
    return
  }
}

; output: branch_fusion
; kernel "other_exits" {
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
;     v10: i1 = fcmp.olt v6, 20.0:f32
;     br v10, b1, b2
;   b1:
;     br v9, b3, b4
;   b2:
;     jump b5(v6)
;   b3:
;     v11: f32 = fdiv v6, v8
;     jump b5(v11)
;   b4:
;     v12: f32 = fdiv v8, v8
;     v13: f32 = fadd v12, 1.0
;     jump b6(v13)
;   b5(v14: f32):
;     v15: f32 = fmul v14, 1.0
;     jump b6(v15)
;   b6(v16: f32):
;     store v16 to v5 align 4
;     return
;   }
; }
