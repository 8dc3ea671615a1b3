; test: private_array_soa
; gangs: width(4) configuration(naive)
; stage: regions
; A fill of more elements than are written out is a loop, and what follows it has a block of its own: two in one block,
; and one of a part of an array.
; run: k([0 x 6]:i32, 3:i32) global=6 local=3 => [18, 18, 18, 18, 18, 18]:i32

kernel "k" {
  args 12
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  slot ss0 size 160 align 16
  slot ss1 size 256 align 4
  region r0 {
  b0(v0: ptr.global, v1: i32):
    v2: i64 = query.global_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    v5: ptr.private = slot_addr ss0
    memset v5, 0:i8, 160
    v6: ptr.private = slot_addr ss1
    v7: ptr.private = ptradd v6, 40
    memset v7, 1:i8, 160
    store v1 to v6 + 36 align 4
    store 7:i32 to v6 + 200 align 4
    v8: i64 = sext v1
    v9: i64 = shl v8, 2
    v10: ptr.private = ptradd v5, v9
    store v1 to v10 align 4
    v11: i32 = load v5 + 12 align 4
    v12: i32 = load v5 + 156 align 4
    v13: i32 = load v6 + 36 align 4
    v14: i32 = load v6 + 40 align 4
    v15: i32 = load v6 + 196 align 4
    v16: i32 = load v6 + 200 align 4
    v17: i32 = sub v14, v15
    v19: i32 = add v11, v12
    v20: i32 = add v19, v13
    v21: i32 = add v20, v16
    v22: i32 = add v21, v17
    v23: i1 = icmp.eq v14, 16843009:i32
    v24: i32 = zext v23
    v25: i32 = mul v24, 5
    v26: i32 = add v22, v25
    store v26 to v4 align 4
    return
  }
}

; output: private_array_soa
; kernel "k" {
;   args 12
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "n" value "int" size 4 align 4 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   slot ss0 size 160 align 16 interleaved 4 lanes 4
;   slot ss1 size 256 align 4 interleaved 4 lanes 4
;   region r0 {
;   b0(v0: ptr.global, v1: i32):
;     v2: i64 = query.global_id 0
;     v3: i64 = shl v2, 2
;     v4: ptr.global = ptradd v0, v3
;     v5: ptr.private = slot_addr ss0
;     jump b1(0)
;   b1(v38: i64):
;     v39: ptr.private = ptradd v5, v38
;     store 0:i32 to v39 align 4
;     v40: i64 = add v38, 16
;     v41: i1 = icmp.ult v40, 640:i64
;     br v41, b2, b3
;   b2:
;     jump b1(v40)
;   b3:
;     v6: ptr.private = slot_addr ss1
;     v7: ptr.private = ptradd v6, 160
;     jump b4(0)
;   b4(v42: i64):
;     v43: ptr.private = ptradd v7, v42
;     store 16843009:i32 to v43 align 4
;     v44: i64 = add v42, 16
;     v45: i1 = icmp.ult v44, 640:i64
;     br v45, b5, b6
;   b5:
;     jump b4(v44)
;   b6:
;     store v1 to v6 + 144 align 4
;     store 7:i32 to v6 + 800 align 4
;     v8: i64 = sext v1
;     v9: i64 = shl v8, 2
;     v46: i64 = shl v9, 2
;     v10: ptr.private = ptradd v5, v46
;     store v1 to v10 align 4
;     v11: i32 = load v5 + 48 align 4
;     v12: i32 = load v5 + 624 align 4
;     v13: i32 = load v6 + 144 align 4
;     v14: i32 = load v6 + 160 align 4
;     v15: i32 = load v6 + 784 align 4
;     v16: i32 = load v6 + 800 align 4
;     v17: i32 = sub v14, v15
;     v19: i32 = add v11, v12
;     v20: i32 = add v19, v13
;     v21: i32 = add v20, v16
;     v22: i32 = add v21, v17
;     v23: i1 = icmp.eq v14, 16843009:i32
;     v24: i32 = zext v23
;     v25: i32 = mul v24, 5
;     v26: i32 = add v22, v25
;     store v26 to v4 align 4
;     return
;   }
; }
