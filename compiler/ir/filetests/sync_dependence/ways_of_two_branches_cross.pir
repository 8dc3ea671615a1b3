; test: sync_dependence
; stage: normalized
; Karrenberg & Hack 2012, figure 7, right: i, j and k are each reached from one way of every divergent branch.
; a is b0, b is b1, c is b2, d is b3, e is b4, f is b5, g is b6, i is b7, j is b8, k is b9, m is b10.

kernel "k" {
  args 8
  param "u" value "int" size 1 align 1 offset 0
  param "n" value "int" size 4 align 4 offset 4
  input value(0, 0): i1
  input value(1, 0): i32
  region r0 {
  b0(v0: i1, v1: i32):
    br v0, b1, b2 ; joins: b7 b10
  b1:
    br v0, b3, b4 ; joins: b10
  b2:
    br v0, b5, b6 ; joins: b10
  b3:
    jump b7
  b4:
    jump b8
  b5:
    jump b7
  b6:
    jump b9
  b7:
    jump b10
  b8:
    jump b10
  b9:
    jump b10
  b10:
    return
  }
}
