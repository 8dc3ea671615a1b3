; test: barriers
; test: regions
; test: run
; A private array is filled before the barrier and read behind it, one copy for each work-item.
; run: kept_slot([1, 2, 3]:i32, local(12), 0:i32) global=3 local=3 => [51, 25, 55]:i32

kernel "kept_slot" { ; regions: 2 ; live:
  args 24
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "tmp" local "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.local
  input value(2, 0): i32
  slot ss0 size 16 align 4
  region r0 {
  b0(v0: ptr.global, v1: ptr.local, v2: i32):
    v3: i64 = query.local_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: ptr.local = ptradd v1, v4
    v7: i64 = query.local_size 0
    v8: i64 = sub v7, 1
    v9: i64 = sub v8, v3
    v10: i64 = shl v9, 2
    v11: ptr.local = ptradd v1, v10
    v12: ptr.private = slot_addr ss0
    v13: i32 = load v5 align 4
    v14: i64 = and v3, 3
    v15: i64 = shl v14, 2
    v16: ptr.private = ptradd v12, v15
    store 5:i32, 5:i32, 5:i32, 5:i32 to v12 align 4
    store v13 to v16 align 4
    barrier
    v17: i32 = load v12 align 4
    v18: i32 = load v12 + 4 align 4
    v19: i32 = mul v18, 10
    v20: i32 = add v17, v19
    store v20 to v5 align 4
    return
  }
}

; output: barriers
; kernel "kept_slot" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "tmp" local "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.local
;   input value(2, 0): i32
;   slot ss0 size 16 align 4
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v3: i64 = query.local_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: ptr.local = ptradd v1, v4
;     v7: i64 = query.local_size 0
;     v8: i64 = sub v7, 1
;     v9: i64 = sub v8, v3
;     v10: i64 = shl v9, 2
;     v11: ptr.local = ptradd v1, v10
;     v12: ptr.private = slot_addr ss0
;     v13: i32 = load v5 align 4
;     v14: i64 = and v3, 3
;     v15: i64 = shl v14, 2
;     v16: ptr.private = ptradd v12, v15
;     store 5:i32, 5:i32, 5:i32, 5:i32 to v12 align 4
;     store v13 to v16 align 4
;     exit r1
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v7: ptr.private = slot_addr ss0
;     v3: i32 = load v7 align 4
;     v4: i32 = load v7 + 4 align 4
;     v5: i32 = mul v4, 10
;     v6: i32 = add v3, v5
;     v9: i64 = query.local_id 0
;     v11: i64 = shl v9, 2
;     v12: ptr.global = ptradd v0, v11
;     store v6 to v12 align 4
;     return
;   }
; }
