; test: verify
; The entry holds the inputs; a path leads to every block; jumps give what parameters take.

kernel "inputs" {
  args 8
  param "p" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: i64): ; error: the entry's parameters are not the kernel's inputs
    jump b2(v0) ; error: b2's v1 must be i32, not i64
  b1: ; error: no path leads to this block
    return
  b2(v1: i32):
    br v1, b3, b3 ; error: the condition must be i1, not i32
  b3:
    switch v1 [0: b4, 0: b5, 1: b6] default b7 ; error: case 0 stands twice
  b4:
    return
  b5:
    switch v3 [] default b7 ; error: f32 is no integer type ; error: v3 is not defined on every path to here
  b6:
    v2: i8 = trunc v1
    v3: f32 = sitofp v2
    jump b7
  b7:
    return
  }
}
