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

kernel "passed_out" {
  args 4
  param "a" value "int" size 4 align 4 offset 0
  input value(0, 0): i32
  region r0 {
  b0(v0: i32):
    jump b1(v0)
  b1(v1: i32):
    v2: i32 = add v1, 1
    v3: i1 = icmp.eq v2, 4:i32
    br v3, b2, b5
  b2:
    jump b3(v2) ; error: v2 leaves its loop without an exit's parameter
  b3(v4: i32):
    v5: i1 = icmp.eq v4, 7:i32
    br v5, b4, b6
  b4:
    exit r1
  b5:
    jump b1(v2)
  b6:
    exit r1 ; error: another block ends the same way
  }
  region r1 {
  b0(v0: i32):
    return
  }
}

kernel "lanes" {
  args 4
  param "u" value "int" size 1 align 1 offset 0
  input value(0, 0): i1
  region r0 {
  b0(v0: i1):
    v1: i1 = any v0 ; error: lanes are asked only after `normalize`
    jump b1
  b1 mask v0: ; error: masks come only with `linearize`
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
