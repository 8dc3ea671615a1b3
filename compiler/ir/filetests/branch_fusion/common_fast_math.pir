; test: branch_fusion
; passes: -all,branch_fusion=always
; test: fusions
; test: run
; stage: normalized
; What the build options of one side's function allow alone, the merged operation may not do.
; run: common_fast_math([1, 2, 3, 4]:f32, [2, 1, 6, 2]:f32) global=4 local=4 => [9, 12, 81, 24]:f32, [2, 1, 6, 2]:f32

kernel "common_fast_math" {
  args 16
  param "x" pointer.global "float*" size 8 align 8 offset 0
  param "y" pointer.global "float*" size 8 align 8 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  region r0 {
  b0(v0: ptr.global, v1: ptr.global):
    v2: i64 = query.global_id 0
    v3: i64 = shl.nsw.nuw v2, 2
    v4: ptr.global = ptradd.inbounds v0, v3
    v5: f32 = load v4 align 4
    v6: ptr.global = ptradd.inbounds v1, v3
    v7: f32 = load v6 align 4
    v8: i1 = fcmp.olt v5, v7
    br v8, b1, b2 ; fusion: it would save 2 of 8
  b1:
    v9: f32 = fadd.nnan.contract v5, v7
    v10: f32 = fmul.reassoc.nsz v9, v9
    jump b3(v10)
  b2:
    v11: f32 = fadd.contract v5, v5
    v12: f32 = fmul.nsz v11, 3
    jump b3(v12)
  b3(v13: f32):
    store v13 to v4 align 4
    return
  }
}

; output: branch_fusion
; kernel "common_fast_math" {
;   args 16
;   param "x" pointer.global "float*" size 8 align 8 offset 0
;   param "y" pointer.global "float*" size 8 align 8 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global):
;     v2: i64 = query.global_id 0
;     v3: i64 = shl.nsw.nuw v2, 2
;     v4: ptr.global = ptradd.inbounds v0, v3
;     v5: f32 = load v4 align 4
;     v6: ptr.global = ptradd.inbounds v1, v3
;     v7: f32 = load v6 align 4
;     v8: i1 = fcmp.olt v5, v7
;     v16: f32 = select v8, v7, v5
;     v17: f32 = fadd.contract v5, v16
;     v18: f32 = select v8, v17, 3.0
;     v19: f32 = fmul.nsz v17, v18
;     jump b3(v19)
;   b3(v13: f32):
;     store v13 to v4 align 4
;     return
;   }
; }
