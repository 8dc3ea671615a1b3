; test: normalize, width_selection, divergence, loop_flattening
; test: run
; passes: loop_flattening=always
; An atomic operation in the outer loop: which lanes come there together counts, so the loops stay.
; run: order_counts([1, 2, 3, 4]:i32, 2:i32, 2:i32) global=1 local=1 => [5, 2, 3, 4]:i32

kernel "order_counts" {
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
    v7: i32 = trunc v3
    jump b1(0)
  b1(v8: i32):
    v10: i1 = icmp.slt v8, v1
    br v10, b2, b7
  b2:
    v11: i32 = add v7, v8
    v12: i32 = and v11, 3
    jump b4(v12)
  b4(v14: i32):
    v17: i32 = add v14, 1
    v19: i1 = icmp.slt v17, v2
    br v19, b4(v17), b6(v17)
  b6(v20: i32):
    v21: i32 = add v8, 1
    v22: i32 = atomic_rmw.add.relaxed v0, v20 align 4
    jump b1(v21)
  b7:
    return
  }
}

; output: normalize, width_selection, divergence, loop_flattening
; kernel "order_counts" {
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
;     v7: i32 = trunc v3
;     jump b1(0)
;   b1(v8: i32):
;     v10: i1 = icmp.slt v8, v1
;     br v10, b2, b7
;   b2:
;     v11: i32 = add v7, v8
;     v12: i32 = and v11, 3
;     jump b4(v12)
;   b4(v14: i32):
;     v17: i32 = add v14, 1
;     v19: i1 = icmp.slt v17, v2
;     br v19, b8, b6(v17)
;   b6(v20: i32):
;     v21: i32 = add v8, 1
;     v22: i32 = atomic_rmw.add.relaxed v0, v20 align 4
;     jump b1(v21)
;   b7:
;     return
;   b8:
;     jump b4(v17)
;   }
; }
