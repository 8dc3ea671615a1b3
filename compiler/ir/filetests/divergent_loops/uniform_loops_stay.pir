; test: divergent_loops
; test: run
; stage: normalized
; A loop that all lanes leave together, run by all of them.
; run: uniform_loops_stay([1, 3, 9, 2]:i32, 3:i32, 0:i32) global=4 local=4 => [4, 6, 12, 5]:i32

kernel "uniform_loops_stay" {
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
    jump b1(0, v6)
  b1(v7: i32, v8: i32):
    v9: i1 = icmp.slt v7, v1
    br v9, b2, b3(v8)
  b2:
    v10: i32 = add v7, 1
    v11: i32 = add v8, 1
    jump b1(v10, v11)
  b3(v12: i32):
    store v12 to v5 align 4
    return
  }
}

; output: divergent_loops
; kernel "uniform_loops_stay" {
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
;     jump b1(0, v6)
;   b1(v7: i32, v8: i32):
;     v9: i1 = icmp.slt v7, v1
;     br v9, b2, b3(v8)
;   b2:
;     v10: i32 = add v7, 1
;     v11: i32 = add v8, 1
;     jump b1(v10, v11)
;   b3(v12: i32):
;     store v12 to v5 align 4
;     return
;   }
; }
