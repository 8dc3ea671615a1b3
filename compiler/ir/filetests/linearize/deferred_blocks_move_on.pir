; test: divergent_loops, linearize
; test: run
; stage: normalized
; Moll 2021, figure 8.2, as its text tells: b goes on to d and defers e, d goes on to e and defers h; the
; branch in a stays. Here a is b0, b is b1 and so on, k is b8; the others split edges. Each block on a lane's
; way adds a bit.
; run: deferred_blocks_move_on([1, 12, 103, 114]:i32, 0:i32, 0:i32) global=4 local=4 => [267, 275, 267, 275]:i32
; run: deferred_blocks_move_on([1, 12, 103, 114]:i32, 1:i32, 0:i32) global=4 local=4 => [277, 277, 277, 277]:i32
; run: deferred_blocks_move_on([1, 12, 103, 114]:i32, 1:i32, 1:i32) global=4 local=4 => [421, 421, 293, 293]:i32

kernel "deferred_blocks_move_on" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "u" value "int" size 4 align 4 offset 8
  param "w" value "int" size 4 align 4 offset 12
  input value(0, 0): ptr.global
  input value(1, 0): i32
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: i32 = load v5 align 4
    v7: i1 = icmp.eq v1, 0:i32
    v8: i1 = icmp.eq v2, 0:i32
    v9: i32 = and v6, 1
    v10: i1 = icmp.ne v9, 0:i32
    v11: i1 = icmp.slt v6, 100:i32
    br v7, b1, b2
  b1:
    br v10, b3, b9
  b2:
    br v8, b10, b5
  b3:
    jump b6(11)
  b9:
    jump b4(3)
  b10:
    jump b4(5)
  b4(v12: i32):
    v13: i32 = or v12, 16
    jump b6(v13)
  b5:
    br v11, b11, b12
  b11:
    jump b6(165)
  b6(v14: i32):
    v15: i32 = or v14, 256
    jump b8(v15)
  b12:
    jump b8(293)
  b8(v16: i32):
    store v16 to v5 align 4
    return
  }
}

; output: divergent_loops, linearize
; kernel "deferred_blocks_move_on" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "u" value "int" size 4 align 4 offset 8
;   param "w" value "int" size 4 align 4 offset 12
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: i32 = load v5 align 4
;     v7: i1 = icmp.eq v1, 0:i32
;     v8: i1 = icmp.eq v2, 0:i32
;     v9: i32 = and v6, 1
;     v10: i1 = icmp.ne v9, 0:i32
;     v11: i1 = icmp.slt v6, 100:i32
;     br v7, b1, b2
;   b1:
;     v30: i1 = xor v10, true
;     jump b3
;   b3 mask v10:
;     jump b9
;   b9 mask v30:
;     jump b4(3, v30, v10)
;   b2:
;     br v8, b10, b5
;   b10:
;     jump b4(5, true, false)
;   b5:
;     v31: i1 = xor v11, true
;     jump b11
;   b11 mask v11:
;     v36: i32 = select v11, 165, 11
;     jump b12
;   b12 mask v31:
;     jump b6(v11, v36)
;   b4(v12: i32, v32: i1, v33: i1) mask v32:
;     v13: i32 = or v12, 16
;     v34: i1 = or v33, v32
;     v37: i32 = select v32, v13, 11
;     jump b6(v34, v37)
;   b6(v35: i1, v38: i32) mask v35:
;     v15: i32 = or v38, 256
;     v39: i32 = select v35, v15, 293
;     jump b8
;   b8:
;     store v39 to v5 align 4
;     return
;   }
; }
