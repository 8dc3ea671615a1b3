; test: verify
; stage: regions
; What must be gone and what must fit after the barriers pass.

kernel "late" {
  live ls0: i32
  region r0 {
  b0:
    barrier ; error: a barrier is left after `barriers`
    v0: i32 = collective.reduce.add 1 ; error: a barrier is left after `barriers`
    live_store ls1, 1:i32 ; error: ls1 does not exist
    exit r2 ; error: r2 does not exist
  }
  region r1 {
  b0:
    v0: i64 = live_load ls0 ; error: the result must be i32, not i64
    live_store ls0, 1:i64 ; error: the operand must be i32, not i64
    v1: i32 = live_load ls0
    live_store ls0, v1
    exit r1
  }
}

kernel "combines" {
  live ls0: i32
  live ls1: f32
  region r0 {
  b0:
    live_store ls0, 1:i32
    live_store ls1, 1.0:f32
    v0: i32 = combined ; error: the region does not begin with a reduction of this type
    exit r1
  }
  region r1 combines reduce.add ls0 {
  b0:
    v0: i32 = combined
    v1: f32 = combined ; error: the region does not begin with a reduction of this type
    exit r2
  }
  region r2 combines inclusive.fmax ls1 {
  b0:
    v0: f32 = combined ; error: the region does not begin with a reduction of this type
    v1: f32 = live_load ls1
    return
  }
}

kernel "combines_nothing" { ; error: r1 combines f32 by add ; error: ls1 does not exist
  live ls0: f32
  region r0 {
  b0:
    live_store ls0, 1.0:f32
    exit r1
  }
  region r1 combines reduce.add ls0 {
  b0:
    exit r2
  }
  region r2 combines reduce.add ls1 {
  b0:
    return
  }
}

kernel "combines_what_is_shared" { ; error: r1 combines ls0, of which the group has one
  live ls0: i32 shared
  region r0 {
  b0:
    live_store ls0, 1:i32
    exit r1
  }
  region r1 combines reduce.add ls0 {
  b0:
    v0: i32 = combined
    return
  }
}
