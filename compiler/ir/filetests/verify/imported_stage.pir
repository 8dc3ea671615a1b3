; test: verify
; What comes only with the barriers pass.

kernel "early" { ; error: regions come only with `barriers`
  live ls0: i32
  region r0 {
  b0:
    live_store ls0, 1:i32 ; error: live slots come only with `barriers`
    v0: i32 = live_load ls0 ; error: live slots come only with `barriers`
    exit r1 ; error: exits come only with `barriers`
  }
  region r1 {
  b0:
    barrier
    return
  }
}
