; test: simplify, dce
; test: run
; Operations on constants are computed, integers only, and not where they are undefined. What simplifies leaves its operands
; simple for what follows, in a loop as well; what comes around is known at its end only.
; run: sum([0]:i32, 6:i32) global=1 local=1 => [24]:i32

kernel "sum" {
  args 12
  param "out" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    v2: i32 = mul 2, 3
    v3: i32 = sub v2, 6
    v4: i32 = add v1, v3
    v5: f32 = fadd 1.0, 2.0
    v6: i32 = fptosi v5
    jump b1(0:i32, 0:i32)
  b1(v7: i32, v8: i32):
    v9: i1 = icmp.ult v7, v4
    br v9, b2, b3
  b2:
    v10: i32 = lshr v6, v3
    v11: i32 = add v8, v10
    v12: i1 = icmp.eq v3, 0:i32
    v13: i32 = select v12, 1, v7
    v14: i32 = add v11, v13
    v15: i32 = add v7, v13
    jump b1(v15, v14)
  b3:
    store v8 to v0 align 4
    return
  }
}

; output: simplify, dce
; kernel "sum" {
;   args 12
;   param "out" pointer.global "int*" size 8 align 8 offset 0
;   param "n" value "int" size 4 align 4 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32):
;     v5: f32 = fadd 1.0, 2.0
;     v6: i32 = fptosi v5
;     jump b1(0, 0)
;   b1(v7: i32, v8: i32):
;     v9: i1 = icmp.ult v7, v1
;     br v9, b2, b3
;   b2:
;     v11: i32 = add v8, v6
;     v14: i32 = add v11, 1
;     v15: i32 = add v7, 1
;     jump b1(v15, v14)
;   b3:
;     store v8 to v0 align 4
;     return
;   }
; }
