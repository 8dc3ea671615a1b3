; test: loops
; The inner loop's exit edge is the outer loop's back edge; the outer loop has two latches.

kernel "nested" {
  args 4
  param "a" value "int" size 4 align 4 offset 0
  input value(0, 0): i32
  region r0 {
  b0(v0: i32):
    jump b1(0)
  b1(v1: i32): ; in: b1 ; loop: depth 1, latches b2 b3, exits b1-b4
    v2: i1 = icmp.slt v1, v0
    br v2, b2(v1), b4
  b2(v3: i32): ; in: b2 ; loop: depth 2, latches b5, exits b2-b3 b2-b1
    v4: i32 = and v3, 3
    switch v4 [0: b3, 1: b1(v3)] default b5
  b3: ; in: b1
    v5: i32 = add v3, 2
    jump b1(v5)
  b4:
    return
  b5: ; in: b2
    v6: i32 = add v3, 1
    jump b2(v6)
  }
}
