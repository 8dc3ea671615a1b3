; test: branch_fusion, divergent_loops, boscc, linearize
; test: fusions
; test: run
; stage: normalized
; All lanes share the slot, as each side reads only what its lanes wrote. Merged sides would write there together: the branch stays.
; run: shared_slot([1, 8, 3, 16]:f32, [2, 2, 6, 4]:f32, 2.0:f32) global=4 local=4 => [4.0, 3.0, 1.3333334, 3.0]:f32, _

kernel "shared_slot" {
  args 24
  param "x" pointer.global "float*" size 8 align 8 offset 0
  param "y" pointer.global "float*" size 8 align 8 offset 8
  param "u" value "float" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): f32
  slot ss0 size 4 align 4
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: f32):
    v3: i64 = query.global_id 0
    v4: i64 = shl.nsw.nuw v3, 2
    v5: ptr.global = ptradd.inbounds v0, v4
    v6: f32 = load v5 align 4
    v7: ptr.global = ptradd.inbounds v1, v4
    v8: f32 = load v7 align 4
    v9: ptr.private = slot_addr ss0
    v10: i1 = fcmp.olt v6, v8
    br v10, b1, b2 ; fusion: a side writes a private variable that all lanes share
  b1:
    store v2 to v9 align 4
    v11: f32 = load v9 align 4
    v12: f32 = fdiv v8, v11
    v13: f32 = fdiv v12, v6
    v14: f32 = fdiv v13, v12
    v15: f32 = fdiv v14, 0.25
    jump b3(v15)
  b2:
    store 3.0:f32 to v9 align 4
    v16: f32 = load v9 align 4
    v17: f32 = fdiv v16, v8
    v18: f32 = fdiv v17, v6
    v19: f32 = fdiv v18, v17
    v20: f32 = fmul v19, v6
    v21: f32 = fmul v20, v16
    jump b3(v21)
  b3(v22: f32):
    store v22 to v5 align 4
    return
  }
}

; output: branch_fusion, divergent_loops, boscc, linearize
; kernel "shared_slot" {
;   args 24
;   param "x" pointer.global "float*" size 8 align 8 offset 0
;   param "y" pointer.global "float*" size 8 align 8 offset 8
;   param "u" value "float" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): f32
;   slot ss0 size 4 align 4
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: f32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl.nsw.nuw v3, 2
;     v5: ptr.global = ptradd.inbounds v0, v4
;     v6: f32 = load v5 align 4
;     v7: ptr.global = ptradd.inbounds v1, v4
;     v8: f32 = load v7 align 4
;     v9: ptr.private = slot_addr ss0
;     v10: i1 = fcmp.olt v6, v8
;     v31: i1 = xor v10, true
;     jump b4
;   b4 mask v10:
;     v27: i1 = any true
;     br v27, b1, b5
;   b1 mask v10:
;     store v2 to v9 align 4
;     v11: f32 = load v9 align 4
;     v12: f32 = fdiv v8, v11
;     v13: f32 = fdiv v12, v6
;     v14: f32 = fdiv v13, v12
;     v15: f32 = fdiv v14, 0.25
;     v32: f32 = select v10, v15, 0.0
;     jump b6(v32)
;   b5 mask v10:
;     jump b6(0.0)
;   b6(v33: f32) mask v31:
;     v29: i1 = any true
;     br v29, b2, b7
;   b2 mask v31:
;     store 3.0:f32 to v9 align 4
;     v16: f32 = load v9 align 4
;     v17: f32 = fdiv v16, v8
;     v18: f32 = fdiv v17, v6
;     v19: f32 = fdiv v18, v17
;     v20: f32 = fmul v19, v6
;     v21: f32 = fmul v20, v16
;     v34: f32 = select v31, v21, v33
;     jump b3(v34)
;   b7 mask v31:
;     jump b3(v33)
;   b3(v35: f32):
;     store v35 to v5 align 4
;     return
;   }
; }
