; test: sync_dependence
; stage: normalized
; Moll 2021, figure 7.1a: lanes that A sends two ways meet in D.
; A is b0, B is b1, C is b2, D is b3.

kernel "k" {
  args 8
  param "u" value "int" size 1 align 1 offset 0
  param "n" value "int" size 4 align 4 offset 4
  input value(0, 0): i1
  input value(1, 0): i32
  region r0 {
  b0(v0: i1, v1: i32):
    br v0, b1, b2 ; joins: b3
  b1:
    jump b3
  b2:
    jump b3
  b3:
    return
  }
}
