; test: loops
; A cycle with two entries is no natural loop.

kernel "irreducible" {
  args 4
  param "a" value "int" size 4 align 4 offset 0
  input value(0, 0): i32
  region r0 {
  b0(v0: i32):
    v1: i1 = icmp.eq v0, 0:i32
    br v1, b1, b2
  b1:
    jump b2 ; irreducible: b2
  b2:
    v2: i1 = icmp.eq v0, 1:i32
    br v2, b1, b3
  b3:
    return
  }
}
