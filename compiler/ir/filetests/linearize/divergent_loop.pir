; test: divergent_loops, linearize
; test: run
; stage: regions
; Lanes that have left wait; the counter goes on for all, the sum is kept for those that left.
; run: divergent_loop([1, 3, 0, 5, 2]:i32, 0:i8) global=5 local=5 => [0, 3, 0, 10, 1]:i32

kernel "divergent_loop" {
  args 12
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "u" value "int" size 1 align 1 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i1
  region r0 {
  b0(v0: ptr.global, v1: i1):
    v2: i64 = query.global_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    v5: i32 = load v4 align 4
    jump b1(0, 0)
  b1(v6: i32, v7: i32):
    v8: i1 = icmp.slt v6, v5
    br v8, b2, b3(v7)
  b2:
    v9: i32 = add v7, v6
    v10: i32 = add v6, 1
    jump b1(v10, v9)
  b3(v11: i32):
    store v11 to v4 align 4
    return
  }
}

; output: divergent_loops, linearize
; kernel "divergent_loop" {
;   args 12
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "u" value "int" size 1 align 1 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): i1
;   region r0 {
;   b0(v0: ptr.global, v1: i1):
;     v2: i64 = query.global_id 0
;     v3: i64 = shl v2, 2
;     v4: ptr.global = ptradd v0, v3
;     v5: i32 = load v4 align 4
;     jump b4(0, 0, true, 0)
;   b4(v6: i32, v7: i32, v15: i1, v16: i32):
;     v23: i1 = any v15
;     br v23, b5, b7
;   b5:
;     jump b1
;   b1 mask v15:
;     v8: i1 = icmp.slt v6, v5
;     v24: i1 = and v15, v8
;     v25: i1 = xor v8, true
;     v26: i1 = and v15, v25
;     v27: i32 = select v26, v7, v16
;     jump b2
;   b2 mask v24:
;     v9: i32 = add v7, v6
;     v10: i32 = add v6, 1
;     jump b6
;   b6:
;     jump b4(v10, v9, v24, v27)
;   b7:
;     jump b3(v16)
;   b3(v11: i32):
;     store v11 to v4 align 4
;     return
;   }
; }
