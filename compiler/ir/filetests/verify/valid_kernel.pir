; test: verify
; Nothing is wrong here.

kernel "k" {
  args 8
  param "p" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.global_id 0
    jump b1(v1)
  b1(v2: i64):
    v3: i1 = icmp.eq v2, 0:i64
    v4: i64 = sub v2, 1
    br v3, b2, b1(v4)
  b2:
    barrier
    switch v2 [-1: b3] default b3
  b3:
    return
  }
}
