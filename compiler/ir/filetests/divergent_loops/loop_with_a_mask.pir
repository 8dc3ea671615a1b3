; test: divergent_loops
; test: run
; stage: regions
; passes: -loop_gates
; The loop ends at once where no lane comes, then: it has a mask that its header asks for.
; run: loop_with_a_mask([1, 3, 9, 2]:i32, 3:i32, 2:i32) global=4 local=4 => [103, 105, 9, 104]:i32
; run: loop_with_a_mask([8, 9, 7, 6]:i32, 3:i32, 7:i32) global=4 local=4 => [8, 9, 7, 6]:i32

kernel "loop_with_a_mask" {
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
    v7: i1 = icmp.slt v6, 5:i32
    br v7, b1, b5
  b1:
    jump b2(0, v6)
  b2(v8: i32, v9: i32):
    v10: i1 = icmp.slt v8, v1
    br v10, b3, b4(v9)
  b3:
    v11: i32 = add v8, 1
    v12: i32 = add v9, 1
    v15: i1 = icmp.eq v11, v2
    br v15, b7(v12), b8
  b8:
    jump b2(v11, v12)
  b7(v16: i32):
    v17: i32 = add v16, 100
    jump b6(v17)
  b4(v13: i32):
    jump b6(v13)
  b5:
    jump b6(v6)
  b6(v14: i32):
    store v14 to v5 align 4
    return
  }
}

; output: divergent_loops
; kernel "loop_with_a_mask" {
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
;     v7: i1 = icmp.slt v6, 5:i32
;     br v7, b1, b5
;   b1:
;     jump b9(0, v6, true, false, 0, 0)
;   b2:
;     v10: i1 = icmp.slt v8, v1
;     br v10, b3, b11(v8, v9, false, v24, v25, v9)
;   b3:
;     v11: i32 = add v8, 1
;     v12: i32 = add v9, 1
;     v15: i1 = icmp.eq v11, v2
;     br v15, b11(v8, v9, false, true, v12, v26), b8
;   b8:
;     jump b11(v11, v12, true, v24, v25, v26)
;   b7(v16: i32):
;     v17: i32 = add v16, 100
;     jump b6(v17)
;   b4(v13: i32):
;     jump b6(v13)
;   b5:
;     jump b6(v6)
;   b6(v14: i32):
;     store v14 to v5 align 4
;     return
;   b9(v8: i32, v9: i32, v23: i1, v24: i1, v25: i32, v26: i32):
;     v35: i1 = any v23
;     br v35, b10, b12
;   b10:
;     br v23, b2, b11(v8, v9, false, v24, v25, v26)
;   b11(v27: i32, v28: i32, v29: i1, v30: i1, v31: i32, v32: i32):
;     jump b9(v27, v28, v29, v30, v31, v32)
;   b12:
;     br v24, b7(v25), b13(v26)
;   b13(v36: i32):
;     jump b4(v36)
;   }
; }
