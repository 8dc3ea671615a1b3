; test: whole_pieces
; test: run
; stage: normalized
; The masks and divisors of indices come from memory or are computed: whether their low bits are ones, or zero, is asked.
; run: masks_and_divisors([0, 0, 0, 0, 0, 0]:i32, 3:i32, 2:i32) global=6 local=6 => [0, 1, 12, 13, 20, 21]:i32
; run: masks_and_divisors([0, 0, 0, 0, 0, 0]:i32, 1:i32, 3:i32) global=6 local=6 => [0, 1, 0, 11, 10, 11]:i32

kernel "masks_and_divisors" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "m" value "int" size 4 align 4 offset 8
  param "d" value "int" size 4 align 4 offset 12
  input value(0, 0): ptr.global
  input value(1, 0): i32
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32, v2: i32):
    v3: i64 = query.global_id 0
    v4: i32 = trunc v3
    v5: i32 = add v2, 0:i32
    v6: i32 = and v1, v4
    v7: i32 = udiv v4, v5
    v8: i32 = mul v7, 10:i32
    v9: i32 = urem v4, v5
    v10: i32 = sub v4, v9
    v11: i1 = icmp.ult v9, v5
    v12: i32 = add v6, v8
    v13: i32 = select v11, v12, v10
    v14: i64 = shl v3, 2
    v15: ptr.global = ptradd v0, v14
    store v13 to v15 align 4
    return
  }
}

; output: whole_pieces
; kernel "masks_and_divisors" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "m" value "int" size 4 align 4 offset 8
;   param "d" value "int" size 4 align 4 offset 12
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32, v2: i32):
;     v5: i32 = add v2, 0
;     v20: i32 = and v1, 15
;     v21: i1 = icmp.eq v20, 15:i32
;     v22: i32 = and v5, 15
;     v23: i1 = icmp.eq v22, 0:i32
;     v24: i1 = and v21, v23
;     v39: i1 = freeze v24
;     br v39, b1, b2
;   b1:
;     v3: i64 = query.global_id 0
;     v4: i32 = trunc v3
;     v43: i32 = and v4, -16
;     v44: i32 = and v43, v1
;     v45: i32 = and v4, 15
;     v6: i32 = add.nuw v44, v45
;     v46: i32 = and v4, -16
;     v7: i32 = udiv v46, v5
;     v8: i32 = mul v7, 10
;     v47: i32 = and v4, -16
;     v48: i32 = urem v47, v5
;     v49: i32 = and v4, 15
;     v9: i32 = add.nuw v48, v49
;     v10: i32 = sub v4, v9
;     v11: i1 = icmp.ult v9, v5
;     v12: i32 = add v6, v8
;     v13: i32 = select v11, v12, v10
;     v14: i64 = shl v3, 2
;     v15: ptr.global = ptradd v0, v14
;     store v13 to v15 align 4
;     jump b3
;   b2:
;     v25: i64 = query.global_id 0
;     v26: i32 = trunc v25
;     v27: i32 = and v1, v26
;     v28: i32 = udiv v26, v5
;     v29: i32 = mul v28, 10
;     v30: i32 = urem v26, v5
;     v31: i32 = sub v26, v30
;     v32: i1 = icmp.ult v30, v5
;     v33: i32 = add v27, v29
;     v34: i32 = select v32, v33, v31
;     v35: i64 = shl v25, 2
;     v36: ptr.global = ptradd v0, v35
;     store v34 to v36 align 4
;     jump b3
;   b3:
;     return
;   }
; }
