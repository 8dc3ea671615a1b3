; test: divergent_loops, linearize
; test: run
; stage: normalized
; Moll 2021, figure 5.3a: a horizontal operation behind two arms is of all lanes that come there, by whichever arm: as many as
; came to the branch. If those of the first arm asked before the others came, they would get another answer.
; run: ballot_where_arms_meet([0, 1, 0]:i32) global=3 local=3 => [7, 7, 7]:i32

kernel "ballot_where_arms_meet" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.global_id 0
    v2: i64 = shl v1, 2
    v3: ptr.global = ptradd v0, v2
    v4: i32 = load v3 align 4
    v5: i1 = icmp.eq v4, 0:i32
    v6: i64 = ballot true
    br v5, b1, b2
  b1:
    jump b3
  b2:
    store 2:i32 to v3 align 4
    jump b3
  b3:
    v7: i64 = ballot true
    v8: i1 = icmp.eq v7, v6
    br v8, b4, b5
  b4:
    jump b6(7:i32)
  b5:
    jump b6(8:i32)
  b6(v9: i32):
    store v9 to v3 align 4
    return
  }
}

; output: divergent_loops, linearize
; kernel "ballot_where_arms_meet" {
;   args 8
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   input value(0, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global):
;     v1: i64 = query.global_id 0
;     v2: i64 = shl v1, 2
;     v3: ptr.global = ptradd v0, v2
;     v4: i32 = load v3 align 4
;     v5: i1 = icmp.eq v4, 0:i32
;     v6: i64 = ballot true
;     v17: i1 = xor v5, true
;     jump b1
;   b1 mask v5:
;     jump b2
;   b2 mask v17:
;     store 2:i32 to v3 align 4
;     jump b3
;   b3:
;     v7: i64 = ballot true
;     v8: i1 = icmp.eq v7, v6
;     br v8, b4, b5
;   b4:
;     jump b6(7)
;   b5:
;     jump b6(8)
;   b6(v9: i32):
;     store v9 to v3 align 4
;     return
;   }
; }
