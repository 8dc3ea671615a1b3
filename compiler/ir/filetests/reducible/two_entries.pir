; test: reducible
; stage: regions
; Both blocks of the cycle are entered from outside; only the first has parameters.
; run: two_entries(zeros(20), 4:i32) global=5 local=5 => [14, 8, 16, 8, 18]:i32

kernel "two_entries" {
  args 12
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    v2: i64 = query.local_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    v5: i32 = trunc v2
    v6: i32 = and v5, 1
    v7: i1 = icmp.eq v6, 0:i32
    store v5 to v4 align 4
    br v7, b1(10), b2
  b1(v8: i32):
    v9: i32 = load v4 align 4
    v10: i32 = add v9, v8
    store v10 to v4 align 4
    jump b2
  b2:
    v11: i32 = load v4 align 4
    v12: i1 = icmp.slt v11, v1
    br v12, b1(1), b3
  b3:
    v13: i32 = load v4 align 4
    v14: i32 = add v13, v1
    store v14 to v4 align 4
    return
  }
}

; output: reducible
; kernel "two_entries" {
;   args 12
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "n" value "int" size 4 align 4 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32):
;     v2: i64 = query.local_id 0
;     v3: i64 = shl v2, 2
;     v4: ptr.global = ptradd v0, v3
;     v5: i32 = trunc v2
;     v6: i32 = and v5, 1
;     v7: i1 = icmp.eq v6, 0:i32
;     store v5 to v4 align 4
;     br v7, b4(false, 10), b4(true, 0)
;   b1(v8: i32):
;     v9: i32 = load v4 align 4
;     v10: i32 = add v9, v8
;     store v10 to v4 align 4
;     jump b4(true, 0)
;   b2:
;     v11: i32 = load v4 align 4
;     v12: i1 = icmp.slt v11, v1
;     br v12, b4(false, 1), b3
;   b3:
;     v13: i32 = load v4 align 4
;     v14: i32 = add v13, v1
;     store v14 to v4 align 4
;     return
;   b4(v19: i1, v20: i32):
;     br v19, b2, b1(v20)
;   }
; }
