; test: divergent_loops, linearize
; test: run
; stage: normalized
; Moll 2021, figure 5.5: lanes that go past a loop never turn its condition, so that a gang of which none came to the loop would go
; round it for ever.
; run: loop_that_waits_for_a_lane([0, 0, 0]:i32) global=3 local=3 => [0, 0, 0]:i32
; run: loop_that_waits_for_a_lane([0, 5, 9]:i32) global=3 local=3 => [0, 1, 1]:i32

kernel "loop_that_waits_for_a_lane" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.global_id 0
    v2: i64 = shl v1, 2
    v3: ptr.global = ptradd v0, v2
    v4: i32 = load v3 align 4
    v5: i1 = icmp.ne v4, 0:i32
    br v5, b1, b5
  b1:
    jump b2(v4)
  b2(v6: i32):
    v7: i32 = add v6, -1
    v8: i1 = icmp.ult v7, 2:i32
    br v8, b4(v7), b3
  b3:
    jump b2(v7)
  b4(v9: i32):
    store v9 to v3 align 4
    jump b6
  b5:
    jump b6
  b6:
    return
  }
}

; output: divergent_loops, linearize
; kernel "loop_that_waits_for_a_lane" {
;   args 8
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   input value(0, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global):
;     v1: i64 = query.global_id 0
;     v2: i64 = shl v1, 2
;     v3: ptr.global = ptradd v0, v2
;     v4: i32 = load v3 align 4
;     v5: i1 = icmp.ne v4, 0:i32
;     v27: i1 = xor v5, true
;     jump b1
;   b1 mask v5:
;     jump b7(v4, true, 0)
;   b7(v6: i32, v14: i1, v15: i32) mask v5:
;     v21: i1 = any v14
;     br v21, b8, b10
;   b8 mask v5:
;     v22: i1 = and v5, v14
;     jump b2
;   b2 mask v22:
;     v7: i32 = add v6, -1
;     v8: i1 = icmp.ult v7, 2:i32
;     v23: i1 = xor v8, true
;     v24: i1 = and v22, v23
;     v25: i1 = and v22, v8
;     v26: i32 = select v25, v7, v15
;     jump b3
;   b3 mask v24:
;     jump b9
;   b9 mask v5:
;     jump b7(v7, v24, v26)
;   b10 mask v5:
;     jump b4(v15)
;   b4(v9: i32) mask v5:
;     store v9 to v3 align 4
;     jump b5
;   b5 mask v27:
;     jump b6
;   b6:
;     return
;   }
; }
