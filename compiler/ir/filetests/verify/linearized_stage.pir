; test: verify
; stage: linearized
; Everything that linearized code must not have.

kernel "branches" {
  args 8
  param "a" value "int" size 4 align 4 offset 0
  param "u" value "int" size 1 align 1 offset 4
  input value(0, 0): i32
  input value(1, 0): i1
  region r0 {
  b0(v0: i32, v1: i1):
    v2: i1 = icmp.eq v0, 0:i32
    br v1, b1, b4
  b1 mask v2:
    br v1, b2, b3 ; error: lanes that are not active may decide: `any` is missing
  b2 mask v2:
    v3: i1 = any v1
    br v3, b3, b4
  b3 mask v2:
    switch v0 [1: b4] default b5 ; error: a switch is left after `linearize`
  b4 mask v2:
    return ; error: the region ends for some lanes only
  b5:
    br v1, b6, b7
  b6:
    unreachable ; error: lanes that are not active come here as well
  b7:
    return ; error: another block ends the same way
  }
}

kernel "loops" {
  args 4
  param "u" value "int" size 1 align 1 offset 0
  input value(0, 0): i1
  region r0 {
  b0(v0: i1):
    v1: i64 = query.local_id 0
    v2: i1 = icmp.eq v1, 0:i64
    jump b1
  b1:
    br v0, b2, b3
  b2 mask v2:
    v3: i1 = any v0
    br v3, b4, b3 ; error: some lanes leave the loop before the others
  b3:
    jump b1
  b4:
    br v0, b5, b6
  b5: ; error: the loop has no exit for a gang without active lanes
    jump b5
  b6 mask v2:
    jump b7
  b7 mask v2:
    v4: i1 = any v0
    br v4, b6, b8
  b8:
    return
  }
}

kernel "irreducible" {
  args 4
  param "u" value "int" size 1 align 1 offset 0
  input value(0, 0): i1
  region r0 {
  b0(v0: i1):
    br v0, b1, b2
  b1:
    br v0, b2, b3 ; error: the edge to b2 makes the control flow irreducible
  b2:
    jump b1
  b3:
    return
  }
}

kernel "mask_behind_its_use" {
  args 4
  param "a" value "int" size 4 align 4 offset 0
  input value(0, 0): i32
  region r0 {
  b0(v0: i32):
    v1: i1 = icmp.eq v0, 0:i32
    br v1, b1, b2
  b1:
    v2: i1 = icmp.eq v0, 1:i32
    jump b2
  b2 mask v2: ; error: v2 is not defined on every path to here
    jump b3
  b3 mask v3: ; error: v3 is not defined on every path to here
    v3: i1 = icmp.eq v0, 2:i32
    jump b4
  b4:
    return
  }
}

kernel "mask_of_a_type" {
  args 4
  param "a" value "int" size 4 align 4 offset 0
  input value(0, 0): i32
  region r0 {
  b0(v0: i32):
    jump b1
  b1 mask v0: ; error: a mask cannot be i32
    jump b2
  b2:
    return
  }
}
