; test: sync_dependence
; stage: normalized
; Moll 2021, figure 7.9d: three ways of a switch meet two by two.
; S is b0, A is b1, B is b2, C is b3, D is b4, E is b5.

kernel "k" {
  args 8
  param "u" value "int" size 1 align 1 offset 0
  param "n" value "int" size 4 align 4 offset 4
  input value(0, 0): i1
  input value(1, 0): i32
  region r0 {
  b0(v0: i1, v1: i32):
    switch v1 [0: b1, 1: b2] default b3 ; joins: b4 b5
  b1:
    jump b4
  b2:
    jump b4
  b3:
    jump b5
  b4:
    jump b5
  b5:
    return
  }
}
