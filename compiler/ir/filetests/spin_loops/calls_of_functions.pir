; test: spin_loops
; What a function reads that others write may end the loop that calls it, by its result or by what it leaves in private memory. A
; function that computes something of its operands does not. One that calls such a function is like it.

function fn0 "half" {
  input passed(0): i32
  result i32
  region r0 {
  b0(v0: i32):
    v1: i32 = lshr v0, 1:i32
    set_results v1
    return
  }
}

function fn1 "take" {
  input passed(0): ptr.global
  result i32
  region r0 {
  b0(v0: ptr.global):
    v1: i32 = atomic_rmw.xchg.relaxed v0, 1:i32 align 4
    set_results v1
    return
  }
}

function fn2 "take_twice" {
  input passed(0): ptr.global
  result i32
  region r0 {
  b0(v0: ptr.global):
    v1: i32 = call fn1(v0)
    v2: i32 = call fn1(v0)
    v3: i32 = or v1, v2
    set_results v3
    return
  }
}

kernel "k" {
  args 16
  param "p" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    jump b1(v1)
  b1(v2: i32): ; waits: no
    v3: i32 = call fn0(v2)
    v4: i1 = icmp.eq v3, 0:i32
    br v4, b2, b1(v3)
  b2: ; waits: yes
    v5: i32 = call fn1(v0)
    v6: i1 = icmp.eq v5, 0:i32
    br v6, b3, b2
  b3: ; waits: yes
    v7: i32 = call fn2(v0)
    v8: i1 = icmp.eq v7, 0:i32
    br v8, b4(v1), b3
  b4(v9: i32): ; waits: no
    v10: i32 = call fn1(v0)
    v11: i32 = sub v9, 1:i32
    v12: i1 = icmp.eq v11, 0:i32
    br v12, b5, b4(v11)
  b5:
    return
  }
}
