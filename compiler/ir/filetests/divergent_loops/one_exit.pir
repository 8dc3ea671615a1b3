; test: divergent_loops
; test: run
; stage: normalized
; Moll 2021, figures 9.1 and 9.2: the value that lives out is kept for lanes that left; the counter goes on
; for all.
; run: one_exit([1, 3, 0, 2]:i32, 7:i32, 0:i32) global=4 local=4 => [7, 21, 0, 14]:i32

kernel "one_exit" {
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
    jump b1(0, 0)
  b1(v7: i32, v8: i32):
    v9: i1 = icmp.slt v7, v6
    br v9, b2, b3(v8)
  b2:
    v10: i32 = add v8, v1
    v11: i32 = add v7, 1
    jump b1(v11, v10)
  b3(v12: i32):
    store v12 to v5 align 4
    return
  }
}

; output: divergent_loops
; kernel "one_exit" {
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
;     jump b4(0, 0, true, 0)
;   b1:
;     v9: i1 = icmp.slt v7, v6
;     br v9, b2, b6(v7, v8, false, v8)
;   b2:
;     v10: i32 = add v8, v1
;     v11: i32 = add v7, 1
;     jump b6(v11, v10, true, v17)
;   b3(v12: i32):
;     store v12 to v5 align 4
;     return
;   b4(v7: i32, v8: i32, v16: i1, v17: i32):
;     v24: i1 = any v16
;     br v24, b5, b7
;   b5:
;     br v16, b1, b6(v7, v8, false, v17)
;   b6(v18: i32, v19: i32, v20: i1, v21: i32):
;     jump b4(v18, v19, v20, v21)
;   b7:
;     jump b3(v17)
;   }
; }
