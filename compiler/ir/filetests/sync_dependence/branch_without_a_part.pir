; test: sync_dependence
; stage: normalized
; Moll 2021, figure 7.9c: lanes meet in D because of A and of C, not of B.
; A is b0, B is b1, C is b2, D1 is b3, E1 is b4, D is b5, E is b6, F is b7; the others split edges.

kernel "k" {
  args 8
  param "u" value "int" size 1 align 1 offset 0
  param "n" value "int" size 4 align 4 offset 4
  input value(0, 0): i1
  input value(1, 0): i32
  region r0 {
  b0(v0: i1, v1: i32):
    br v0, b1, b8 ; joins: b5 b7
  b1:
    br v0, b2, b6 ; joins: b7
  b2:
    br v0, b3, b4 ; joins: b5
  b3:
    jump b5
  b4:
    jump b5
  b5:
    jump b7
  b6:
    jump b7
  b7:
    return
  b8:
    jump b5
  }
}
