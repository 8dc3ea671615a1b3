; test: divergent_loops, linearize
; test: run
; stage: regions
; A uniform branch stays, and so do parameters.
; run: uniform_if([1, 12, 3]:i32, 0:i8) global=3 local=3 => [1, 12, 3]:i32
; run: uniform_if([1, 12, 3]:i32, 1:i8) global=3 local=3 => [101, 112, 103]:i32

kernel "uniform_if" {
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
    br v1, b1, b2
  b1:
    v7: i32 = add v5, 100
    jump b3(v7)
  b2:
    jump b3(v5)
  b3(v8: i32):
    store v8 to v4 align 4
    return
  }
}

; output: divergent_loops, linearize
; kernel "uniform_if" {
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
;     br v1, b1, b2
;   b1:
;     v7: i32 = add v5, 100
;     jump b3(v7)
;   b2:
;     jump b3(v5)
;   b3(v8: i32):
;     store v8 to v4 align 4
;     return
;   }
; }
