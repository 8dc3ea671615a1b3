; test: sync_dependence
; stage: normalized
; Moll 2021, figure 7.7b: the inner loop is left for some lanes by D, out of both loops, and for all by 5 or
; 6, which meet in 7 together.
; P is b0, O is b1, H is b2, A is b3, B is b4, L is b5, U1 is b6, U2 is b7, J is b8, O2 is b9, D is b10, R is
; b11.

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
    jump b2
  b2:
    br v0, b3, b6 ; joins: b8 ; exits: b6 b10
  b3:
    br v0, b4, b7 ; joins: b8 ; exits: b7 b10
  b4:
    br v0, b5, b10 ; exits: b10
  b5:
    jump b2
  b6:
    jump b8
  b7:
    jump b8
  b8:
    jump b9
  b9:
    jump b1
  b10:
    jump b11
  b11:
    return
  }
}
