; test: sync_dependence
; stage: normalized
; Moll 2021, figure 7.2, whose text has a divergent branch in G with its joins, and one in H with the exits where lanes
; arrive at different times; the graph between them is ours.
; P is b0, H is b1, G is b2, C is b3, D is b4, E is b5, X is b6, Y is b7, R is b8; the others split edges.

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
    br v0, b2, b6 ; joins: b8 ; exits: b6
  b2:
    br v0, b3, b4 ; joins: b5 b8 ; exits: b7
  b3:
    jump b5
  b4:
    br v0, b9, b7 ; joins: b8 ; exits: b7
  b5:
    jump b1
  b6:
    jump b8
  b7:
    jump b8
  b8:
    return
  b9:
    jump b5
  }
}
