; test: verify
; What a module's and a kernel's tables must say.

global g0 "a" private align 4 size 4 ; error: no program-scope variable is in private
global g1 "b" global align 3 size 4 ; error: alignment 3 is no power of two
global g2 "c" global align 8 size 8 relocs [1: g0] ; error: the address at 1 is out of bounds
global g3 "d" global align 8 size 8 relocs [0: g9] ; error: g9 does not exist

kernel "twice" {
  region r0 {
  b0:
    return
  }
}

kernel "twice" { ; error: two kernels have this name
  region r0 {
  b0:
    return
  }
}

kernel "empty" { ; error: the kernel has no code
}

kernel "blockless" {
  region r0 { ; error: the region has no block
  }
}

kernel "tables" {
  args 8
  param "a" value "int" size 4 align 4 offset 8 ; error: the parameter ends behind the argument block
  param "b" value "int" size 4 align 6 offset 4 ; error: alignment 6 is no power of two
  input value(2, 0): i32 ; error: parameter 2 does not exist
  input value(1, 0): i64 ; error: the input ends behind its parameter
  input address(0): i64 ; error: an address cannot be i64
  slot ss0 size 4 align 0 ; error: alignment 0 is no power of two
  local lv0 size 4 align 12 ; error: alignment 12 is no power of two
  region r0 {
  b0(v0: i32, v1: i64, v2: i64):
    return
  }
}
