; test: barriers
; test: regions
; test: run
; Two values that no barrier needs together share a slot; a third one is needed with both.
; run: shared_slot([1, 2, 3]:i32, local(12), 0:i32) global=3 local=3 => [4, 6, 6]:i32

kernel "shared_slot" { ; regions: 4 ; live: i32 i32
  args 24
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "tmp" local "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.local
  input value(2, 0): i32
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
    v12: i32 = load v5 align 4
    v13: i32 = load v5 align 4
    store v12 to v6 align 4
    barrier
    v14: i32 = load v11 align 4
    v15: i32 = mul v14, v13
    barrier
    store v15 to v6 align 4
    barrier
    v17: i32 = load v11 align 4
    v18: i32 = add v17, v12
    store v18 to v5 align 4
    return
  }
}

; output: barriers
; kernel "shared_slot" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "tmp" local "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.local
;   input value(2, 0): i32
;   live ls0: i32
;   live ls1: i32
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
;     v12: i32 = load v5 align 4
;     v13: i32 = load v5 align 4
;     store v12 to v6 align 4
;     live_store ls0, v12
;     live_store ls1, v13
;     exit r1
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v8: i64 = query.local_id 0
;     v5: i64 = query.local_size 0
;     v7: i64 = sub v5, 1
;     v9: i64 = sub v7, v8
;     v11: i64 = shl v9, 2
;     v12: ptr.local = ptradd v1, v11
;     v3: i32 = load v12 align 4
;     v13: i32 = live_load ls1
;     v4: i32 = mul v3, v13
;     live_store ls1, v4
;     exit r2
;   }
;   region r2 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v7: i32 = live_load ls1
;     v3: i64 = query.local_id 0
;     v5: i64 = shl v3, 2
;     v6: ptr.local = ptradd v1, v5
;     store v7 to v6 align 4
;     exit r3
;   }
;   region r3 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v8: i64 = query.local_id 0
;     v5: i64 = query.local_size 0
;     v7: i64 = sub v5, 1
;     v9: i64 = sub v7, v8
;     v11: i64 = shl v9, 2
;     v12: ptr.local = ptradd v1, v11
;     v3: i32 = load v12 align 4
;     v13: i32 = live_load ls0
;     v4: i32 = add v3, v13
;     v14: i64 = shl v8, 2
;     v15: ptr.global = ptradd v0, v14
;     store v4 to v15 align 4
;     return
;   }
; }
