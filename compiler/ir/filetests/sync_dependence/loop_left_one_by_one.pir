; test: sync_dependence
; stage: normalized
; Moll 2021, figure 7.1c: lanes leave in different iterations.
; P is b0, B is b1, C is b2, X is b3.

kernel "k" {
  args 8
  param "u" value "int" size 1 align 1 offset 0
  param "n" value "int" size 4 align 4 offset 4
  input value(0, 0): i1
  input value(1, 0): i32
  region r0 {
  b0(v0: i1, v1: i32):
    jump b1
  b1:
    br v0, b2, b3 ; exits: b3
  b2:
    jump b1
  b3:
    return
  }
}
