; test: sync_dependence
; stage: normalized
; Moll 2021, figure 7.9b: lanes meet in D, before the post-dominator of A; B has no part in that.
; A is b0, B is b1, C is b2, D is b3, E is b4, F is b5; the others split edges.

kernel "k" {
  args 8
  param "u" value "int" size 1 align 1 offset 0
  param "n" value "int" size 4 align 4 offset 4
  input value(0, 0): i1
  input value(1, 0): i32
  region r0 {
  b0(v0: i1, v1: i32):
    br v0, b1, b2 ; joins: b3 b5
  b1:
    br v0, b6, b4 ; joins: b5
  b2:
    jump b3
  b3:
    jump b5
  b4:
    jump b5
  b5:
    return
  b6:
    jump b3
  }
}
