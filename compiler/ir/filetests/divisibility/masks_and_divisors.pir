; test: divisibility
; launch: ids_fit_int zero_offset full_groups rows
; passes: divisibility=always
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

; output: divisibility
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
;     v21: i32 = and v1, 15
;     v22: i1 = icmp.eq v21, 15:i32
;     v23: i1 = freeze v22
;     v24: i32 = and v5, 15
;     v25: i1 = icmp.eq v24, 0:i32
;     v26: i1 = freeze v25
;     v27: i1 = and v23, v26
;     v41: i1 = freeze v27
;     br v41, b1, b2
;   b1:
;     v3: i64 = query.global_id 0
;     v4: i32 = trunc v3
;     v45: i32 = and v4, -16
;     v46: i32 = and v45, v1
;     v47: i32 = and v4, 15
;     v6: i32 = add.nuw v46, v47
;     v48: i32 = and v4, -16
;     v7: i32 = udiv v48, v5
;     v8: i32 = mul v7, 10
;     v49: i32 = and v4, -16
;     v50: i32 = urem v49, v5
;     v51: i32 = and v4, 15
;     v9: i32 = add.nuw v50, v51
;     v10: i32 = sub v4, v9
;     v11: i1 = icmp.ult v9, v5
;     v12: i32 = add v6, v8
;     v13: i32 = select v11, v12, v10
;     v14: i64 = shl v3, 2
;     v15: ptr.global = ptradd v0, v14
;     store v13 to v15 align 4
;     jump b3
;   b2:
;     v28: i64 = query.global_id 0
;     v29: i32 = trunc v28
;     v30: i32 = and v1, v29
;     v31: i32 = udiv v29, v5
;     v32: i32 = mul v31, 10
;     v33: i32 = urem v29, v5
;     v34: i32 = sub v29, v33
;     v35: i1 = icmp.ult v33, v5
;     v36: i32 = add v30, v32
;     v37: i32 = select v35, v36, v34
;     v38: i64 = shl v28, 2
;     v39: ptr.global = ptradd v0, v38
;     store v37 to v39 align 4
;     jump b3
;   b3:
;     return
;   }
; }
