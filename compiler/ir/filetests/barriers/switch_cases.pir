; test: barriers
; test: regions
; test: run
; One case has a barrier, one has two, the default none.
; run: switch_cases([1, 2, 3]:i32, local(12), 1:i32) global=3 local=3 => [3, 2, 1]:i32
; run: switch_cases([1, 2, 3]:i32, local(12), 2:i32) global=3 local=3 => [103, 102, 101]:i32
; run: switch_cases([1, 2, 3]:i32, local(12), 3:i32) global=3 local=3 => [1, 2, 3]:i32

kernel "switch_cases" { ; regions: 4 ; live: i32
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
    store v12 to v6 align 4
    switch v2 [1: b1, 2: b2] default b3
  b1:
    barrier
    v13: i32 = load v11 align 4
    jump b4(v13)
  b2:
    barrier
    v14: i32 = load v11 align 4
    barrier
    store v14 to v6 align 4
    v15: i32 = load v6 align 4
    v16: i32 = add v15, 100
    jump b4(v16)
  b3:
    jump b4(v12)
  b4(v17: i32):
    store v17 to v5 align 4
    return
  }
}

; output: barriers
; kernel "switch_cases" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "tmp" local "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.local
;   input value(2, 0): i32
;   live ls0: i32
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
;     store v12 to v6 align 4
;     switch v2 [1: b1, 2: b2] default b3
;   b1:
;     exit r1
;   b2:
;     exit r2
;   b3:
;     jump b4(v12)
;   b4(v13: i32):
;     store v13 to v5 align 4
;     return
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
;     jump b1(v3)
;   b1(v4: i32):
;     v13: i64 = shl v8, 2
;     v14: ptr.global = ptradd v0, v13
;     store v4 to v14 align 4
;     return
;   }
;   region r2 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v7: i64 = query.local_id 0
;     v4: i64 = query.local_size 0
;     v6: i64 = sub v4, 1
;     v8: i64 = sub v6, v7
;     v10: i64 = shl v8, 2
;     v11: ptr.local = ptradd v1, v10
;     v3: i32 = load v11 align 4
;     live_store ls0, v3
;     exit r3
;   }
;   region r3 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v10: i32 = live_load ls0
;     v6: i64 = query.local_id 0
;     v8: i64 = shl v6, 2
;     v9: ptr.local = ptradd v1, v8
;     store v10 to v9 align 4
;     v3: i32 = load v9 align 4
;     v4: i32 = add v3, 100
;     jump b1(v4)
;   b1(v5: i32):
;     v12: ptr.global = ptradd v0, v8
;     store v5 to v12 align 4
;     return
;   }
; }
