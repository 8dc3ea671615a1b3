; test: run
; Each kind of fault, at its instruction.
; run: fault([1, 2]:i32, 0:i32) => [1, 2]:i32
; run: fault([1, 2]:i32, 1:i32) => error: misaligned: 4 bytes at offset 2 of buffer 0 (8 bytes) but alignment 4 in work-item (0, 0, 0) at r0, b2 (source 7:3)
; run: fault([1, 2]:i32, 2:i32) => error: write to read-only memory: 4 bytes at offset 0 of g0 (4 bytes) in work-item (0, 0, 0) at r0, b3
; run: fault([1, 2]:i32, 3:i32) => error: undefined: division by zero in work-item (0, 0, 0) at r0, b4
; run: fault([1, 2]:i32, 4:i32) => error: undefined: reached `unreachable` in work-item (0, 0, 0) at r0, b5
; run: fault([1, 2]:i32, 5:i32) => error: no host function sine in work-item (0, 0, 0) at r0, b6
; run: fault([1, 2]:i32, 6:i32) steps=1000 => error: more steps than allowed in work-item (0, 0, 0) at r0, b7
; run: fault([1, 2]:i32, 7:i32) => error: undefined: memcpy of overlapping ranges in work-item (0, 0, 0) at r0, b8
; run: fault([1, 2]:i32, 8:i32) => error: out of bounds: 4 bytes at offset -4 of buffer 0 (8 bytes) in work-item (0, 0, 0) at r0, b9
; run: fault(null, 8:i32) => error: out of bounds: 4 bytes at 0xfffffffffffffffc, where nothing is in work-item (0, 0, 0) at r0, b9
; run: fault([1, 2]:i32, 0:i64) => error: bad launch: argument 1 does not fit its parameter
; run: fault([1, 2]:i32) => error: bad launch: 1 arguments for 2 parameters
; run: other([1, 2]:i32) => error: bad launch: there is no kernel "other"

global g0 "table" constant align 4 constant size 4

kernel "fault" {
  args 12
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "which" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    switch v1 [1: b2, 2: b3, 3: b4, 4: b5, 5: b6, 6: b7, 7: b8, 8: b9] default b1
  b1:
    return
  b2:
    v2: i32 = load v0 + 2 align 4 @7:3
    return
  b3:
    v3: ptr.constant = global_addr g0
    store v1 to v3 align 4
    return
  b4:
    v4: i32 = sub v1, 3
    v5: i32 = sdiv v1, v4
    return
  b5:
    unreachable
  b6:
    v6: f64 = call_host "sine"(1.0:f64)
    return
  b7:
    jump b7
  b8:
    v7: ptr.global = ptradd v0, 3
    memcpy v7, v0, 4
    return
  b9:
    v8: i32 = load v0 - 4 align 4
    return
  }
}
