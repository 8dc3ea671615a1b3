; test: barriers
; test: regions
; test: run
; A barrier that all work-items reach or none.
; run: conditional([1, 2, 3, 4]:i32, local(16), 1:i32) global=4 local=4 => [8, 6, 4, 2]:i32
; run: conditional([1, 2, 3, 4]:i32, local(16), 0:i32) global=4 local=4 => [14, 14, 14, 14]:i32

kernel "conditional" { ; regions: 2 ; live:
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
    v13: i1 = icmp.sgt v2, 0:i32
    br v13, b1, b2
  b1:
    barrier
    v14: i32 = load v11 align 4
    store v14 to v5 align 4
    jump b3
  b2:
    store 7:i32 to v5 align 4
    jump b3
  b3:
    v15: i32 = load v5 align 4
    v16: i32 = mul v15, 2
    store v16 to v5 align 4
    return
  }
}

; output: barriers
; kernel "conditional" {
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
;     store v12 to v6 align 4
;     v13: i1 = icmp.sgt v2, 0:i32
;     br v13, b1, b2
;   b1:
;     exit r1
;   b2:
;     store 7:i32 to v5 align 4
;     jump b3
;   b3:
;     v14: i32 = load v5 align 4
;     v15: i32 = mul v14, 2
;     store v15 to v5 align 4
;     return
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v9: i64 = query.local_id 0
;     v6: i64 = query.local_size 0
;     v8: i64 = sub v6, 1
;     v10: i64 = sub v8, v9
;     v12: i64 = shl v10, 2
;     v13: ptr.local = ptradd v1, v12
;     v3: i32 = load v13 align 4
;     v14: i64 = shl v9, 2
;     v15: ptr.global = ptradd v0, v14
;     store v3 to v15 align 4
;     jump b1
;   b1:
;     v4: i32 = load v15 align 4
;     v5: i32 = mul v4, 2
;     store v5 to v15 align 4
;     return
;   }
; }
