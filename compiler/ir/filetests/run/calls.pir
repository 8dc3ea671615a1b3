; test: print
; test: run
; A function that calls another, twice and under a condition; one that leaves what it gives in its caller's slot; one with slots of
; its own; one that reads and writes memory by addresses from memory.
; run: calls([1, 2, 3, 4, 5]:i32, [0, 0, 0, 0, 0]:i32) global=5 local=5 => [-100, 23, -100, 43, -100]:i32, [21, 0, 45, 0, 69]:i32

function fn0 "twice_and_one" {
  input passed(0): i32
  input passed(1): ptr.private
  slot ss0 size 8 align 4
  region r0 {
  b0(v0: i32, v1: ptr.private):
    v2: ptr.private = slot_addr ss0
    v3: i32 = mul v0, 2
    store v3, 1:i32 to v2 align 4
    v4: i32, v5: i32 = load v2 align 4
    v6: i32 = add v4, v5
    store v6 to v1 align 4
    return
  }
}

function fn1 "by_the_lowest_bit" {
  input passed(0): i32
  input passed(1): ptr.global
  input passed(2): ptr.private
  input passed(3): i64
  slot ss0 size 4 align 4
  region r0 {
  b0(v0: i32, v1: ptr.global, v2: ptr.private, v3: i64):
    v4: ptr.private = slot_addr ss0
    v5: i32 = and v0, 1
    v6: i1 = icmp.eq v5, 1:i32
    br v6, b1, b2
  b1:
    call fn0(v0, v4)
    v7: i32 = load v4 align 4
    v8: i32 = mul v0, 10
    v9: i32 = add v7, v8
    v10: i64 = shl v3, 2
    v11: ptr.global = ptradd v1, v10
    v12: i32 = load v11 align 4
    v13: i32 = add v12, v9
    v14: i32 = add v13, 8
    store v14 to v11 align 4
    store -100:i32 to v2 align 4
    return
  b2:
    call fn0(v0, v4)
    v15: i32 = load v4 align 4
    call fn0(v15, v4)
    v16: i32 = load v4 align 4
    v17: i32 = mul v0, 6
    v18: i32 = add v16, v17
    store v18 to v2 align 4
    return
  }
}

kernel "calls" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  slot ss0 size 4 align 4
  region r0 {
  b0(v0: ptr.global, v1: ptr.global):
    v2: i64 = query.global_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    v5: i32 = load v4 align 4
    v6: ptr.private = slot_addr ss0
    call fn1(v5, v1, v6, v2)
    v7: i32 = load v6 align 4
    store v7 to v4 align 4
    return
  }
}
