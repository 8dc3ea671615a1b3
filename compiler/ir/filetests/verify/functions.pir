; test: verify
; What holds of functions, and of the calls of them.

function fn0 "sound" {
  input passed(0): i32
  region r0 {
  b0(v0: i32):
    return
  }
}

function fn1 "asks" {
  region r0 {
  b0:
    v0: i64 = query.global_id 0 ; error: a function knows nothing of its work-item, group or gang
    barrier ; error: a function knows nothing of its work-item, group or gang
    return
  }
}

function fn2 "calls_itself" { ; error: a function calls only functions that stand before it
  region r0 {
  b0:
    call fn2()
    return
  }
}

function fn3 "takes_arguments_of_a_launch" { ; error: a function's inputs are what calls pass, in their order
  args 4
  param "x" value "int" size 4 align 4 offset 0
  input value(0, 0): i32
  region r0 {
  b0(v0: i32):
    return
  }
}

function fn4 "returns_two" {
  result i32
  result f64
  region r0 {
  b0:
    set_results 1:i32 ; error: the function returns (i32, f64), not (i32)
    set_results 1:i32, 2:f64
    return
  }
}

kernel "calls" {
  input passed(0): i32 ; error: nobody calls a kernel
  region r0 {
  b0(v0: i32):
    call fn0(v0)
    call fn9(v0) ; error: fn9 does not exist
    return
  }
}

kernel "mistypes" {
  region r0 {
  b0:
    call fn0() ; error: the function takes 1 operands
    call fn0(5:i64) ; error: the operand must be i32, not i64
    v0: i32 = call fn0(5:i32) ; error: the function returns (), not (i32)
    v1: f64, v2: i32 = call fn4() ; error: the function returns (i32, f64), not (f64, i32)
    set_results v0 ; error: the function returns (), not (i32)
    return
  }
}
