; test: sync_dependence
; stage: normalized
; Karrenberg & Hack 2012, figure 7, left: j is reached from a and, by a jump, from the other arm.
; a is b0, b is b1, c is b2, d is b3, j is b4, e is b5, k is b6; the others split edges.

kernel "k" {
  args 8
  param "u" value "int" size 1 align 1 offset 0
  param "n" value "int" size 4 align 4 offset 4
  input value(0, 0): i1
  input value(1, 0): i32
  region r0 {
  b0(v0: i1, v1: i32):
    br v0, b1, b2 ; joins: b4 b6
  b1:
    br v0, b3, b7 ; joins: b6
  b2:
    br v0, b8, b5 ; joins: b6
  b3:
    jump b6
  b4:
    jump b6
  b5:
    jump b6
  b6:
    return
  b7:
    jump b4
  b8:
    jump b4
  }
}
