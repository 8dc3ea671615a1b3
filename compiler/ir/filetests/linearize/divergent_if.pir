; test: divergent_loops, linearize
; test: run
; stage: regions
; The arm runs for the lanes of its mask; where the ways meet there is none.
; run: divergent_if([1, 12, 3, 14, 5]:i32, 0:i8) global=5 local=5 => [1, 112, 3, 114, 5]:i32

kernel "divergent_if" {
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
    br v6, b1, b2
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
; kernel "divergent_if" {
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
;     v7: i32 = add v5, 100
;     v15: i32 = select v6, v7, v5
;     jump b2
;   b2 mask v14:
;     jump b3
;   b3:
;     store v15 to v4 align 4
;     return
;   }
; }
