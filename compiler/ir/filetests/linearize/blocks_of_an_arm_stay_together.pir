; test: divergent_loops, linearize
; test: run
; stage: normalized
; Moll 2021, figure 8.6: the other arm, b2, does not come between the blocks that b1 dominates, so the branch
; in b1 stays.
; run: blocks_of_an_arm_stay_together([1, 12, 3, 14]:i32, 0:i32, 0:i32) global=4 local=4 => [1, 9, 1, 9]:i32
; run: blocks_of_an_arm_stay_together([1, 12, 3, 14]:i32, 1:i32, 0:i32) global=4 local=4 => [2, 9, 2, 9]:i32

kernel "blocks_of_an_arm_stay_together" {
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
    v7: i1 = icmp.slt v6, 5:i32
    v8: i1 = icmp.eq v1, 0:i32
    br v7, b1, b2
  b1:
    br v8, b3, b4
  b2:
    jump b5(9)
  b3:
    jump b5(1)
  b4:
    jump b5(2)
  b5(v9: i32):
    store v9 to v5 align 4
    return
  }
}

; output: divergent_loops, linearize
; kernel "blocks_of_an_arm_stay_together" {
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
;     v7: i1 = icmp.slt v6, 5:i32
;     v8: i1 = icmp.eq v1, 0:i32
;     v18: i1 = xor v7, true
;     jump b1
;   b1 mask v7:
;     v22: i1 = any v8
;     br v22, b3, b4
;   b3 mask v7:
;     jump b2(1)
;   b4 mask v7:
;     v19: i32 = select v7, 2, 1
;     jump b2(v19)
;   b2(v20: i32) mask v18:
;     v21: i32 = select v18, 9, v20
;     jump b5
;   b5:
;     store v21 to v5 align 4
;     return
;   }
; }
