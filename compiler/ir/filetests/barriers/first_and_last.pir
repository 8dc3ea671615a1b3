; test: barriers
; test: regions
; test: run
; Nothing happens before the first barrier or behind the last one: neither separates anything.
; run: first_and_last([1, 2, 3, 4]:i32, local(4), 0:i32) global=4 local=2 => [3, 4, 3, 4]:i32

kernel "first_and_last" { ; regions: 1 ; live:
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
    barrier
    v12: i32 = load v5 align 4
    v13: i32 = add v12, 1
    store v13 to v5 align 4
    barrier
    jump b1
  b1:
    return
  }
}

; output: barriers
; kernel "first_and_last" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "tmp" local "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.local
;   input value(2, 0): i32
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
;     v13: i32 = add v12, 1
;     store v13 to v5 align 4
;     jump b1
;   b1:
;     return
;   }
; }
