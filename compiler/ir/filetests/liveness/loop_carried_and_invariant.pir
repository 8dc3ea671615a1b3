; test: liveness
; An invariant lives around the loop, the induction variable only as a parameter, the sum to the end.

kernel "sum" {
  args 16
  param "out" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  param "unused" value "int" size 4 align 4 offset 12
  input value(0, 0): ptr.global
  input value(1, 0): i32
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32, v2: i32): ; live_out: v0, v1, v3
    v3: i32 = mul v1, v1
    v4: i32 = add v3, v2
    jump b1(0, v4)
  b1(v5: i32, v6: i32): ; live_in: v0, v1, v3 ; live_out: v0, v1, v3, v5, v6
    v7: i1 = icmp.slt v5, v1
    br v7, b2, b3
  b2: ; live_in: v0, v1, v3, v5, v6 ; live_out: v0, v1, v3
    v8: i32 = add v6, v3
    v9: i32 = add v5, 1
    jump b1(v9, v8)
  b3: ; live_in: v0, v6
    store v6 to v0 align 4
    return
  }
}
