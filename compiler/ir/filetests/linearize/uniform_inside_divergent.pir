; test: divergent_loops, linearize
; test: run
; stage: regions
; A uniform branch in an arm is asked of the active lanes and stays (Moll 2021, Figure 8.5).
; run: uniform_inside_divergent([1, 12, 3, 14]:i32, 0:i8) global=4 local=4 => [1, 13, 3, 15]:i32
; run: uniform_inside_divergent([1, 12, 3, 14]:i32, 1:i8) global=4 local=4 => [1, 24, 3, 28]:i32

kernel "uniform_inside_divergent" {
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
    v6: i1 = icmp.sgt v5, 10:i32
    br v6, b1, b4
  b1:
    br v1, b2, b3
  b2:
    v7: i32 = shl v5, 1
    store v7 to v4 align 4
    jump b5
  b3:
    v8: i32 = add v5, 1
    store v8 to v4 align 4
    jump b5
  b5:
    jump b6
  b4:
    jump b6
  b6:
    return
  }
}

; output: divergent_loops, linearize
; kernel "uniform_inside_divergent" {
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
;     v6: i1 = icmp.sgt v5, 10:i32
;     v14: i1 = xor v6, true
;     jump b1
;   b1 mask v6:
;     v15: i1 = any v1
;     br v15, b2, b3
;   b2 mask v6:
;     v7: i32 = shl v5, 1
;     store v7 to v4 align 4
;     jump b5
;   b3 mask v6:
;     v8: i32 = add v5, 1
;     store v8 to v4 align 4
;     jump b5
;   b5 mask v6:
;     jump b4
;   b4 mask v14:
;     jump b6
;   b6:
;     return
;   }
; }
