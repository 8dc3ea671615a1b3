; test: verify
; Jumps, entry and names.

kernel "jumps" {
  region r0 {
  b0:
    br true, b1, b0 ; error: b1 has 1 parameters, here are 0 ; error: the entry block has a predecessor
  b1(v0: i32):
    v1: ptr.private = slot_addr ss0 ; error: ss0 does not exist
    v2: ptr.local = local_addr lv1 ; error: lv1 does not exist
    v3: ptr.global = global_addr g0 ; error: g0 does not exist
    v4: i32 = printf fmt0() ; error: fmt0 does not exist
    return
  }
}
