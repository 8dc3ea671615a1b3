; test: divergent_loops, linearize
; test: run
; stage: normalized
; Karrenberg & Hack 2012, figures 6 and 10, right: lanes leave one by one from f (b5), and those that are left
; all at once from c (b2); what is behind the first exit runs for the lanes that left there before.
; run: uniform_exit_of_a_divergent_loop([1, 3, 9, 2]:i32, 5:i32, 0:i32) global=4 local=4 => [101, 103, 205, 102]:i32
; run: uniform_exit_of_a_divergent_loop([1, 3, 9, 2]:i32, 0:i32, 0:i32) global=4 local=4 => [200, 200, 200, 200]:i32

kernel "uniform_exit_of_a_divergent_loop" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "u" value "int" size 4 align 4 offset 8
  param "w" value "int" size 4 align 4 offset 12
  input value(0, 0): ptr.global
  input value(1, 0): i32
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: i32 = load v5 align 4
    v7: i1 = icmp.eq v2, 0:i32
    jump b1(0)
  b1(v8: i32):
    br v7, b2, b3
  b2:
    v9: i1 = icmp.sge v8, v1
    br v9, b7(v8), b4
  b3:
    jump b5
  b4:
    jump b5
  b5:
    v10: i32 = add v8, 1
    v11: i1 = icmp.eq v10, v6
    br v11, b8(v10), b6
  b6:
    jump b1(v10)
  b7(v12: i32):
    v13: i32 = add v12, 200
    jump b9(v13)
  b8(v14: i32):
    v15: i32 = add v14, 100
    jump b9(v15)
  b9(v16: i32):
    store v16 to v5 align 4
    return
  }
}

; output: divergent_loops, linearize
; kernel "uniform_exit_of_a_divergent_loop" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "u" value "int" size 4 align 4 offset 8
;   param "w" value "int" size 4 align 4 offset 12
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: i32 = load v5 align 4
;     v7: i1 = icmp.eq v2, 0:i32
;     jump b10(0, true, false, 0, 0)
;   b10(v8: i32, v22: i1, v23: i1, v24: i32, v25: i32):
;     v33: i1 = any v22
;     br v33, b11, b13
;   b11:
;     jump b1
;   b1 mask v22:
;     v51: i1 = any v7
;     br v51, b2, b3
;   b2 mask v22:
;     v9: i1 = icmp.sge v8, v1
;     v39: i1 = and v22, v9
;     v40: i1 = or v23, v39
;     v43: i32 = select v39, v8, v24
;     v52: i1 = any v9
;     br v52, b12(0, false, v40, v43, v25), b4
;   b4 mask v22:
;     jump b5(v40, v43)
;   b3 mask v22:
;     jump b5(v23, v24)
;   b5(v41: i1, v44: i32) mask v22:
;     v10: i32 = add v8, 1
;     v11: i1 = icmp.eq v10, v6
;     v35: i1 = xor v11, true
;     v36: i1 = and v22, v35
;     v46: i1 = and v22, v11
;     v47: i32 = select v46, v10, v25
;     jump b6
;   b6 mask v36:
;     jump b12(v10, v36, v41, v44, v47)
;   b12(v37: i32, v38: i1, v42: i1, v45: i32, v48: i32):
;     jump b10(v37, v38, v42, v45, v48)
;   b13:
;     v49: i1 = xor v23, true
;     jump b7(v24)
;   b7(v12: i32) mask v23:
;     v13: i32 = add v12, 200
;     jump b14
;   b14 mask v49:
;     jump b8(v25)
;   b8(v14: i32) mask v49:
;     v15: i32 = add v14, 100
;     v50: i32 = select v49, v15, v13
;     jump b9
;   b9:
;     store v50 to v5 align 4
;     return
;   }
; }
