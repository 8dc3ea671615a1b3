; test: verify
; stage: normalized
; Everything that normal form forbids.

kernel "rules" {
  args 4
  param "a" value "int" size 4 align 4 offset 0
  input value(0, 0): i32
  region r0 {
  b0(v0: i32):
    v1: i1 = icmp.eq v0, 0:i32
    br v1, b1, b2
  b1:
    jump b3
  b2:
    jump b3
  b3: ; error: the loop has several latches ; error: the loop has no preheader
    v2: i32 = add v0, 1
    v3: i1 = icmp.eq v2, 4:i32
    br v3, b3, b4 ; error: the edge to b3 is critical
  b4:
    v4: i1 = icmp.eq v2, 9:i32
    br v4, b3, b5 ; error: the edge to b3 is critical
  b5:
    v5: i32 = add v2, 1 ; error: v2 leaves its loop without an exit's parameter
    v6: i1 = icmp.eq v5, 7:i32
    br v6, b6, b7
  b6:
    return ; error: another block ends the same way
  b7:
    return
  }
}

kernel "irreducible" {
  args 4
  param "a" value "int" size 4 align 4 offset 0
  input value(0, 0): i32
  region r0 {
  b0(v0: i32):
    v1: i1 = icmp.eq v0, 0:i32
    br v1, b1, b2
  b1:
    jump b3
  b2:
    jump b4 ; error: the edge to b4 makes the control flow irreducible
  b3:
    jump b4
  b4:
    jump b3
  }
}
