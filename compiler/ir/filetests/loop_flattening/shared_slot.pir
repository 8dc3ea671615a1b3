; test: loop_flattening, divergent_loops, linearize
; test: run
; stage: normalized
; passes: loop_flattening=always
; All lanes share the slot, as they write the same there in a round of the outer loop (b2), and nobody has gone on when others read it (b4). In a
; flattened loop some would have: the loops stay.
; run: shared_slot([1, 2, 3, 4]:i32, 5:i32, 2:i32) global=4 local=4 => [112, 224, 114, 100]:i32

kernel "shared_slot" {
  args 24
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "rounds" value "int" size 4 align 4 offset 8
  param "without" value "int" size 4 align 4 offset 12
  input value(0, 0): ptr.global
  input value(1, 0): i32
  input value(2, 0): i32
  slot ss0 size 4 align 4
  region r0 {
  b0(v0: ptr.global, v1: i32, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: i32 = load v5 align 4
    v7: i32 = trunc v3
    v23: ptr.private = slot_addr ss0
    jump b1(0, v6)
  b1(v8: i32, v9: i32):
    v10: i1 = icmp.slt v8, v1
    br v10, b2, b7(v9)
  b2:
    store v8 to v23 align 4
    v11: i32 = add v7, v8
    v12: i32 = and v11, 3
    v13: i1 = icmp.slt v12, v2
    br v13, b8, b9
  b4(v14: i32, v15: i32):
    v24: i32 = load v23 align 4
    v16: i32 = add v15, v24
    v17: i32 = add v14, 1
    v18: i32 = mul v16, 2
    v19: i1 = icmp.slt v17, 2:i32
    br v19, b10, b11(v18)
  b6(v20: i32):
    v21: i32 = add v8, 1
    jump b1(v21, v20)
  b7(v22: i32):
    store v22 to v5 align 4
    return
  b8:
    jump b4(0, v9)
  b9:
    jump b6(v9)
  b10:
    jump b4(v17, v18)
  b11(v28: i32):
    jump b6(v28)
  }
}

; output: loop_flattening, divergent_loops, linearize
; kernel "shared_slot" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "rounds" value "int" size 4 align 4 offset 8
;   param "without" value "int" size 4 align 4 offset 12
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   input value(2, 0): i32
;   slot ss0 size 4 align 4
;   region r0 {
;   b0(v0: ptr.global, v1: i32, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: i32 = load v5 align 4
;     v7: i32 = trunc v3
;     v23: ptr.private = slot_addr ss0
;     jump b1(0, v6)
;   b1(v8: i32, v9: i32):
;     v10: i1 = icmp.slt v8, v1
;     br v10, b2, b7(v9)
;   b2:
;     store v8 to v23 align 4
;     v11: i32 = add v7, v8
;     v12: i32 = and v11, 3
;     v13: i1 = icmp.slt v12, v2
;     v34: i1 = xor v13, true
;     jump b8
;   b8 mask v13:
;     v32: i1 = any true
;     br v32, b12, b13
;   b12 mask v13:
;     jump b4(0, v9)
;   b4(v14: i32, v15: i32) mask v13:
;     v24: i32 = load v23 align 4
;     v16: i32 = add v15, v24
;     v17: i32 = add v14, 1
;     v18: i32 = mul v16, 2
;     v19: i1 = icmp.slt v17, 2:i32
;     v36: i1 = any v19
;     br v36, b10, b11(v18)
;   b10 mask v13:
;     jump b4(v17, v18)
;   b13 mask v13:
;     jump b11(0)
;   b11(v28: i32) mask v13:
;     v35: i32 = select v13, v28, v9
;     jump b9
;   b9 mask v34:
;     jump b6
;   b6:
;     v21: i32 = add v8, 1
;     jump b1(v21, v35)
;   b7(v22: i32):
;     store v22 to v5 align 4
;     return
;   }
; }
