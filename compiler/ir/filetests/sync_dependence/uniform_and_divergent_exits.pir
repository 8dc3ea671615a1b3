; test: sync_dependence
; stage: normalized
; Moll 2021, figure 7.6: all lanes leave by W, or by X, at once; by Y and Z they leave one by one.
; P is b0, H is b1, B is b2, D is b3, C is b4, E is b5, L is b6, W is b7, X is b8, J is b9, Y is b10, Z is
; b11, M is b12, K is b13; the others split edges.

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
    br v0, b7, b2 ; joins: b9 b13 ; exits: b7
  b2:
    br v0, b8, b3 ; joins: b9 b13 ; exits: b8
  b3:
    br v0, b14, b4 ; joins: b6 b12 b13 ; exits: b10 b11
  b4:
    br v0, b10, b5 ; joins: b12 b13 ; exits: b10
  b5:
    br v0, b11, b15 ; joins: b12 b13 ; exits: b11
  b6:
    jump b1
  b7:
    jump b9
  b8:
    jump b9
  b9:
    jump b13
  b10:
    jump b12
  b11:
    jump b12
  b12:
    jump b13
  b13:
    return
  b14:
    jump b6
  b15:
    jump b6
  }
}
