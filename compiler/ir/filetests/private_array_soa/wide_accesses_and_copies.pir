; test: private_array_soa
; gangs: width(4)
; stage: regions
; What is added to addresses counts for all four lanes, wide accesses fall into elements, and short copies
; become loads and stores; also where one of two arrays is chosen.
; run: k([1, 2, 3, 4, 5, 6]:i32, [0 x 6]:i32, 3:i32) global=6 local=3 => _, [5, 7, 9, 11, 13, 15]:i32

kernel "k" {
  args 20
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  slot ss0 size 32 align 16
  slot ss1 size 32 align 4
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: i32 = load v5 align 4
    v7: ptr.private = slot_addr ss0
    v8: ptr.private = slot_addr ss1
    memset v7, 1:i8, 32
    store v6, v2, v6, v2 to v7 + 16 align 16
    memcpy v8, v7, 32
    v9: i64 = sext v2
    v10: i64 = shl v9, 2
    v11: ptr.private = ptradd v7, v10
    v12: i32 = load v11 + 4 align 4
    v13: i32 = and v6, 1
    v14: i1 = trunc v13
    v15: ptr.private = select v14, v7, v8
    jump b1(v15)
  b1(v16: ptr.private):
    v17: ptr.private = ptradd v16, 20
    v18: i32, v19: i32 = load v17 align 4
    v20: i32 = add v12, v18
    v21: i32 = add v20, v19
    v22: ptr.global = ptradd v1, v4
    store v21 to v22 align 4
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
;   slot ss0 size 32 align 16 interleaved 4 lanes 4
;   slot ss1 size 32 align 4 interleaved 4 lanes 4
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: i32 = load v5 align 4
;     v7: ptr.private = slot_addr ss0
;     v8: ptr.private = slot_addr ss1
;     store 16843009:i32 to v7 align 4
;     store 16843009:i32 to v7 + 16 align 4
;     store 16843009:i32 to v7 + 32 align 4
;     store 16843009:i32 to v7 + 48 align 4
;     store 16843009:i32 to v7 + 64 align 4
;     store 16843009:i32 to v7 + 80 align 4
;     store 16843009:i32 to v7 + 96 align 4
;     store 16843009:i32 to v7 + 112 align 4
;     store v6 to v7 + 64 align 4
;     store v2 to v7 + 80 align 4
;     store v6 to v7 + 96 align 4
;     store v2 to v7 + 112 align 4
;     v29: i32 = load v7 align 4
;     v30: i32 = load v7 + 16 align 4
;     v31: i32 = load v7 + 32 align 4
;     v32: i32 = load v7 + 48 align 4
;     v33: i32 = load v7 + 64 align 4
;     v34: i32 = load v7 + 80 align 4
;     v35: i32 = load v7 + 96 align 4
;     v36: i32 = load v7 + 112 align 4
;     store v29 to v8 align 4
;     store v30 to v8 + 16 align 4
;     store v31 to v8 + 32 align 4
;     store v32 to v8 + 48 align 4
;     store v33 to v8 + 64 align 4
;     store v34 to v8 + 80 align 4
;     store v35 to v8 + 96 align 4
;     store v36 to v8 + 112 align 4
;     v9: i64 = sext v2
;     v10: i64 = shl v9, 2
;     v37: i64 = shl v10, 2
;     v11: ptr.private = ptradd v7, v37
;     v12: i32 = load v11 + 16 align 4
;     v13: i32 = and v6, 1
;     v14: i1 = trunc v13
;     v15: ptr.private = select v14, v7, v8
;     jump b1(v15)
;   b1(v16: ptr.private):
;     v17: ptr.private = ptradd v16, 80
;     v18: i32 = load v17 align 4
;     v19: i32 = load v17 + 16 align 4
;     v20: i32 = add v12, v18
;     v21: i32 = add v20, v19
;     v22: ptr.global = ptradd v1, v4
;     store v21 to v22 align 4
;     return
;   }
; }
