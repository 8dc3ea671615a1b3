; test: private_array_soa
; gangs: width(4)
; stage: regions
; Elements of four bytes that are also accessed two at a time: as a double, a long and an address.
; run: k([1, 2, 3, 4, 5, 6]:i32, [0 x 12]:i32, 0:i32) global=6 local=3 => _, [1, 7, 2, 7, 3, 7, 4, 7, 5, 7, 6, 7]:i32

kernel "k" {
  args 20
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  slot ss0 size 24 align 8
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: i32 = load v5 align 4
    v7: ptr.private = slot_addr ss0
    store v6, 7:i32 to v7 align 8
    v8: i64 = load v7 align 8
    v9: f64 = load v7 align 8
    v10: ptr.global = load v7 align 8
    store v8, v8 to v7 + 8 align 8
    store v9 to v7 align 8
    store v10 to v7 align 8
    v11: i64 = load v7 + 16 align 8
    v12: i64 = shl v3, 3
    v13: ptr.global = ptradd v1, v12
    store v11 to v13 align 8
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
;   slot ss0 size 24 align 8 interleaved 4 lanes 4
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: i32 = load v5 align 4
;     v7: ptr.private = slot_addr ss0
;     store v6 to v7 align 4
;     store 7:i32 to v7 + 16 align 4
;     v17: i32 = load v7 align 4
;     v18: i64 = zext v17
;     v20: i32 = load v7 + 16 align 4
;     v21: i64 = zext v20
;     v23: i64 = shl v21, 32
;     v24: i64 = or v18, v23
;     v8: i64 = freeze v24
;     v25: i32 = load v7 align 4
;     v26: i64 = zext v25
;     v27: i32 = load v7 + 16 align 4
;     v28: i64 = zext v27
;     v29: i64 = shl v28, 32
;     v30: i64 = or v26, v29
;     v9: f64 = bitcast v30
;     v31: i32 = load v7 align 4
;     v32: i64 = zext v31
;     v33: i32 = load v7 + 16 align 4
;     v34: i64 = zext v33
;     v35: i64 = shl v34, 32
;     v36: i64 = or v32, v35
;     v10: ptr.global = inttoptr v36
;     v37: i32 = trunc v8
;     v38: i64 = lshr v8, 32
;     v39: i32 = trunc v38
;     store v37 to v7 + 32 align 4
;     store v39 to v7 + 48 align 4
;     v40: i32 = trunc v8
;     v41: i64 = lshr v8, 32
;     v42: i32 = trunc v41
;     store v40 to v7 + 64 align 4
;     store v42 to v7 + 80 align 4
;     v43: i32 = trunc v30
;     v44: i64 = lshr v30, 32
;     v45: i32 = trunc v44
;     store v43 to v7 align 4
;     store v45 to v7 + 16 align 4
;     v46: i64 = ptrtoint v10
;     v47: i32 = trunc v46
;     v48: i64 = lshr v46, 32
;     v49: i32 = trunc v48
;     store v47 to v7 align 4
;     store v49 to v7 + 16 align 4
;     v50: i32 = load v7 + 64 align 4
;     v51: i64 = zext v50
;     v52: i32 = load v7 + 80 align 4
;     v53: i64 = zext v52
;     v54: i64 = shl v53, 32
;     v55: i64 = or v51, v54
;     v11: i64 = freeze v55
;     v12: i64 = shl v3, 3
;     v13: ptr.global = ptradd v1, v12
;     store v11 to v13 align 8
;     return
;   }
; }
