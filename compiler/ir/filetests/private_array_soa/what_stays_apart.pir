; test: private_array_soa
; gangs: width(4) configuration(naive)
; stage: regions
; Slots that cannot be interleaved: accessed with sizes too different, not aligned, volatile, copied by an
; unknown length, whose address is stored, and one that may stand for another. Those with an address and a
; number of their own can.
; run: k([0 x 4]:i32, [0 x 4]:i32, 1:i32) global=2 local=2 => _, [7, 7, 0, 0]:i32

kernel "k" {
  args 20
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  slot ss0 size 8 align 4
  slot ss1 size 8 align 4
  slot ss2 size 8 align 4
  slot ss3 size 8 align 4
  slot ss4 size 8 align 4
  slot ss5 size 8 align 8
  slot ss6 size 8 align 4
  slot ss7 size 8 align 4
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.global_id 0
    v4: ptr.private = slot_addr ss0
    store v2 to v4 align 4
    store 1:i8 to v4 + 4 align 1
    v5: ptr.private = slot_addr ss1
    v6: ptr.private = ptradd v5, v3
    store v2 to v6 align 1
    v7: ptr.private = slot_addr ss2
    store.volatile v2 to v7 align 4
    v8: ptr.private = slot_addr ss3
    store v2 to v8 align 4
    v9: i64 = sext v2
    memset v8, 0:i8, v9
    v10: ptr.private = slot_addr ss4
    v11: ptr.private = slot_addr ss5
    store v10 to v11 align 8
    store v2 to v10 align 4
    v12: ptr.private = slot_addr ss6
    v13: i1 = icmp.eq v2, 0:i32
    v14: ptr.private = select v13, v12, v4
    store v2 to v14 align 4
    v15: ptr.private = slot_addr ss7
    store 7:i32 to v15 align 4
    v16: i32 = load v15 align 4
    v17: i64 = shl v3, 2
    v18: ptr.global = ptradd v1, v17
    store v16 to v18 align 4
    return
  }
}

; output: private_array_soa
; kernel "k" {
;   args 20
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "y" pointer.global "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): i32
;   slot ss0 size 8 align 4
;   slot ss1 size 8 align 4
;   slot ss2 size 8 align 4
;   slot ss3 size 8 align 4
;   slot ss4 size 8 align 4
;   slot ss5 size 8 align 8 interleaved 8 lanes 4
;   slot ss6 size 8 align 4
;   slot ss7 size 8 align 4 interleaved 4 lanes 4
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: ptr.private = slot_addr ss0
;     store v2 to v4 align 4
;     store 1:i8 to v4 + 4 align 1
;     v5: ptr.private = slot_addr ss1
;     v6: ptr.private = ptradd v5, v3
;     store v2 to v6 align 1
;     v7: ptr.private = slot_addr ss2
;     store.volatile v2 to v7 align 4
;     v8: ptr.private = slot_addr ss3
;     store v2 to v8 align 4
;     v9: i64 = sext v2
;     memset v8, 0, v9
;     v10: ptr.private = slot_addr ss4
;     v11: ptr.private = slot_addr ss5
;     store v10 to v11 align 8
;     store v2 to v10 align 4
;     v12: ptr.private = slot_addr ss6
;     v13: i1 = icmp.eq v2, 0:i32
;     v14: ptr.private = select v13, v12, v4
;     store v2 to v14 align 4
;     v15: ptr.private = slot_addr ss7
;     store 7:i32 to v15 align 4
;     v16: i32 = load v15 align 4
;     v17: i64 = shl v3, 2
;     v18: ptr.global = ptradd v1, v17
;     store v16 to v18 align 4
;     return
;   }
; }
