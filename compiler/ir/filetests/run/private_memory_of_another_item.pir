; test: run
; An address of a private variable, handed over in local memory, is no use to another item.
; run: hand(local(8)) global=2 local=2 => error: another work-item's memory: 4 bytes at offset 0 of ss0 (4 bytes) in work-item (0, 0, 0) at r0, b2
; run: hand(local(16)) global=1 local=1 =>

kernel "hand" {
  args 8
  param "tmp" local "int**" size 8 align 128 offset 0
  input value(0, 0): ptr.local
  slot ss0 size 4 align 4
  region r0 {
  b0(v0: ptr.local):
    v1: i64 = query.local_id 0
    v2: ptr.private = slot_addr ss0
    v6: i64 = ptrtoint v2
    v7: i64 = query.local_size 0
    v8: i64 = sub v7, 1
    v9: i1 = icmp.eq v1, v8
    br v9, b1, b2
  b1:
    store v6 to v0 align 8
    jump b2
  b2:
    barrier
    v10: ptr.private = load v0 align 8
    v11: i32 = load v10 align 4
    return
  }
}
