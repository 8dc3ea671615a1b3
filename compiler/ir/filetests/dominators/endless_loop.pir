; test: dominators
; test: post_dominators
; test: loops
; No path leads from b2 and b3 to the end: paths end at the last block of the loop.

kernel "endless" {
  args 4
  param "a" value "int" size 4 align 4 offset 0
  input value(0, 0): i32
  region r0 {
  b0(v0: i32): ; ipdom: end
    v1: i1 = icmp.eq v0, 0:i32
    br v1, b1, b2
  b1: ; idom: b0 ; ipdom: end
    return
  b2: ; idom: b0 ; ipdom: b3 ; in: b2 ; loop: depth 1, latches b3, exits none
    jump b3
  b3: ; idom: b2 ; ipdom: end ; in: b2
    jump b2
  }
}
