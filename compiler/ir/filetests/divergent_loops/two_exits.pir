; test: divergent_loops
; test: run
; stage: normalized
; Moll 2021, figure 9.3: two exits, each with a value; a parameter says who left through the first one.
; run: two_exits([1, 3, 9, 2]:i32, 3:i32, 0:i32) global=4 local=4 => [100, 1, 1, 101]:i32

kernel "two_exits" {
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
    jump b1(0)
  b1(v7: i32):
    v8: i32 = add v7, 1
    v9: i1 = icmp.eq v8, v6
    br v9, b3(v7), b2
  b2:
    v10: i32 = add v8, v6
    v11: i1 = icmp.sgt v10, v1
    br v11, b4(v8), b5
  b5:
    jump b1(v8)
  b3(v12: i32):
    v13: i32 = add v12, 100
    jump b6(v13)
  b4(v14: i32):
    jump b6(v14)
  b6(v15: i32):
    store v15 to v5 align 4
    return
  }
}

; output: divergent_loops
; kernel "two_exits" {
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
;     jump b7(0, true, false, 0, 0)
;   b1:
;     v8: i32 = add v7, 1
;     v9: i1 = icmp.eq v8, v6
;     br v9, b9(v7, false, true, v7, v23), b2
;   b2:
;     v10: i32 = add v8, v6
;     v11: i1 = icmp.sgt v10, v1
;     br v11, b9(v7, false, v21, v22, v8), b5
;   b5:
;     jump b9(v8, true, v21, v22, v23)
;   b3(v12: i32):
;     v13: i32 = add v12, 100
;     jump b6(v13)
;   b4(v14: i32):
;     jump b6(v14)
;   b6(v15: i32):
;     store v15 to v5 align 4
;     return
;   b7(v7: i32, v20: i1, v21: i1, v22: i32, v23: i32):
;     v31: i1 = any v20
;     br v31, b8, b10
;   b8:
;     br v20, b1, b9(v7, false, v21, v22, v23)
;   b9(v24: i32, v25: i1, v26: i1, v27: i32, v28: i32):
;     jump b7(v24, v25, v26, v27, v28)
;   b10:
;     br v21, b3(v22), b11(v23)
;   b11(v32: i32):
;     jump b4(v32)
;   }
; }
