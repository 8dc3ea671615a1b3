; test: promote_places
; launch: apart
; test: run
; stage: normalized
; The place moves with the iterations: the store stays.
; run: k([0, 0, 0, 0]:i32, [1, 2, 3]:i32, 3:i32) global=1 local=1 => [1, 6, 6, 0]:i32, [1, 2, 3]:i32

kernel "k" {
  args 24
  param "s" pointer.global "int*" size 8 align 8 offset 0
  param "d" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 3
    v5: ptr.global = ptradd v0, v4
    jump b1(0:i32, 0:i32)
  b1(v6: i32, v7: i32):
    v8: i64 = sext v6
    v9: i64 = shl v8, 2
    v10: ptr.global = ptradd v1, v9
    v11: i32 = load v10 align 4
    v12: i32 = add v7, v11
    v16: ptr.global = ptradd v5, v9
    store v12 to v16 align 4
    v13: i32 = add v6, 1
    v14: i1 = icmp.slt v13, v2
    br v14, b4, b2(v12)
  b4:
    jump b1(v13, v12)
  b2(v15: i32):
    jump b3(v15)
  b3(v20: i32):
    v21: ptr.global = ptradd v5, 4:i64
    store v20 to v21 align 4
    return
  }
}

; output: promote_places
; kernel "k" {
;   args 24
;   param "s" pointer.global "int*" size 8 align 8 offset 0
;   param "d" pointer.global "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 3
;     v5: ptr.global = ptradd v0, v4
;     jump b1(0, 0)
;   b1(v6: i32, v7: i32):
;     v8: i64 = sext v6
;     v9: i64 = shl v8, 2
;     v10: ptr.global = ptradd v1, v9
;     v11: i32 = load v10 align 4
;     v12: i32 = add v7, v11
;     v16: ptr.global = ptradd v5, v9
;     store v12 to v16 align 4
;     v13: i32 = add v6, 1
;     v14: i1 = icmp.slt v13, v2
;     br v14, b4, b2(v12)
;   b4:
;     jump b1(v13, v12)
;   b2(v15: i32):
;     jump b3(v15)
;   b3(v20: i32):
;     v21: ptr.global = ptradd v5, 4
;     store v20 to v21 align 4
;     return
;   }
; }
