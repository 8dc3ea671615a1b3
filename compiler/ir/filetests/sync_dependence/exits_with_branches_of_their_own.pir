; test: sync_dependence
; stage: normalized
; Moll 2021, figure 7.9a: D is an exit by H, E one by B and C.
; P is b0, H is b1, B is b2, C is b3, Q is b4, D is b5, E is b6, R is b7; the others split edges.

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
    br v0, b5, b2 ; joins: b7 ; exits: b5
  b2:
    br v0, b3, b8 ; joins: b4 b7 ; exits: b6
  b3:
    br v0, b6, b9 ; joins: b7 ; exits: b6
  b4:
    jump b1
  b5:
    jump b7
  b6:
    jump b7
  b7:
    return
  b8:
    jump b4
  b9:
    jump b4
  }
}
