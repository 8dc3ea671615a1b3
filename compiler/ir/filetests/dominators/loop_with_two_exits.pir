; test: dominators
; test: post_dominators
; test: loops
; A loop left from its header and from its middle; both ways meet behind it.

kernel "two_exits" {
  args 8
  param "a" value "int" size 4 align 4 offset 0
  param "b" value "int" size 4 align 4 offset 4
  input value(0, 0): i32
  input value(1, 0): i32
  region r0 {
  b0(v0: i32, v1: i32): ; ipdom: b1
    jump b1(0)
  b1(v2: i32): ; idom: b0 ; ipdom: b5 ; in: b1 ; loop: depth 1, latches b3, exits b1-b4 b2-b5
    v3: i1 = icmp.slt v2, v0
    br v3, b2, b4
  b2: ; idom: b1 ; ipdom: b5 ; in: b1
    v4: i1 = icmp.eq v2, v1
    br v4, b5, b3
  b3: ; idom: b2 ; ipdom: b1 ; in: b1
    v5: i32 = add v2, 1
    jump b1(v5)
  b4: ; idom: b1 ; ipdom: b5
    jump b5
  b5: ; idom: b1 ; ipdom: end
    return
  }
}
