; test: normalize, width_selection, divergence, loop_flattening
; test: run
; passes: loop_flattening=always
; The nest stands in an arm that only some lanes run, but those that do run its inner loop (b4) together: nobody is idle, and the loops stay.
; run: all_lanes_together([1, 2, 3, 4]:i32, 2:i32, 3:i32) global=4 local=4 => [7, 8, 3, 4]:i32

kernel "all_lanes_together" {
  args 24
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "rounds" value "int" size 4 align 4 offset 8
  param "without" value "int" size 4 align 4 offset 12
  input value(0, 0): ptr.global
  input value(1, 0): i32
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: i32 = load v5 align 4
    v7: i1 = icmp.slt v6, 3:i32
    br v7, b1(0, v6), b7(v6)
  b1(v8: i32, v9: i32):
    v10: i1 = icmp.slt v8, v1
    br v10, b4(0, v9), b7(v9)
  b4(v14: i32, v15: i32):
    v16: i32 = add v15, 1
    v17: i32 = add v14, 1
    v19: i1 = icmp.slt v17, v2
    br v19, b4(v17, v16), b6(v16)
  b6(v20: i32):
    v21: i32 = add v8, 1
    jump b1(v21, v20)
  b7(v22: i32):
    store v22 to v5 align 4
    return
  }
}

; output: normalize, width_selection, divergence, loop_flattening
; kernel "all_lanes_together" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "rounds" value "int" size 4 align 4 offset 8
;   param "without" value "int" size 4 align 4 offset 12
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: i32 = load v5 align 4
;     v7: i1 = icmp.slt v6, 3:i32
;     br v7, b8, b9
;   b1(v8: i32, v9: i32):
;     v10: i1 = icmp.slt v8, v1
;     br v10, b10, b11(v9)
;   b4(v14: i32, v15: i32):
;     v16: i32 = add v15, 1
;     v17: i32 = add v14, 1
;     v19: i1 = icmp.slt v17, v2
;     br v19, b12, b6(v16)
;   b6(v20: i32):
;     v21: i32 = add v8, 1
;     jump b1(v21, v20)
;   b7(v22: i32):
;     store v22 to v5 align 4
;     return
;   b8:
;     jump b1(0, v6)
;   b9:
;     jump b7(v6)
;   b10:
;     jump b4(0, v9)
;   b11(v23: i32):
;     jump b7(v23)
;   b12:
;     jump b4(v17, v16)
;   }
; }
