; test: sync_dependence
; stage: normalized
; Lanes that leave the inner loop one by one leave the outer one so, too.
; P is b0, O is b1, H is b2, I is b3, L is b4, E is b5, O1 is b6, X is b7, R is b8.

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
    br v0, b3, b7 ; exits: b7
  b3:
    br v0, b4, b5 ; exits: b5 b7
  b4:
    jump b2
  b5:
    jump b6
  b6:
    jump b1
  b7:
    jump b8
  b8:
    return
  }
}
