; test: scalar_replacement
; test: run
; launch: apart
; stage: normalized
; Each work-item adds three neighbours in a row of its own: two of them are the last iteration's.
; run: k([1, 2, 4, 8, 16, 32, 64, 128]:i32, [0, 0, 0, 0, 0, 0, 0, 0]:i32, 5:i32) global=2 local=2 => [1, 2, 4, 8, 16, 32, 64, 128]:i32, [7, 14, 28, 56, 112, 224, 0, 0]:i32

kernel "k" {
  args 24
  param "a" pointer.global "int*" size 8 align 8 offset 0
  param "o" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: ptr.global = ptradd v1, v4
    jump b1(0:i32)
  b1(v7: i32):
    v8: i64 = sext v7
    v9: i64 = shl v8, 2
    v10: ptr.global = ptradd v5, v9
    v11: i32 = load v10 align 4
    v12: i32 = load v10 + 4 align 4
    v13: i32 = load v10 + 8 align 4
    v14: i32 = add v11, v12
    v15: i32 = add v14, v13
    v16: ptr.global = ptradd v6, v9
    store v15 to v16 align 4
    v17: i32 = add.nsw v7, 1
    v18: i1 = icmp.slt v17, v2
    br v18, b3, b2
  b3:
    jump b1(v17)
  b2:
    return
  }
}

; output: scalar_replacement
; kernel "k" {
;   args 24
;   param "a" pointer.global "int*" size 8 align 8 offset 0
;   param "o" pointer.global "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: ptr.global = ptradd v1, v4
;     v24: i64 = mul v3, 4
;     v25: ptr.global = ptradd v0, v24
;     v26: i32 = load v25 align 4
;     v28: i64 = mul v3, 4
;     v29: ptr.global = ptradd v0, v28
;     v30: i32 = load v29 + 4 align 4
;     jump b1(0, v26, v30)
;   b1(v7: i32, v22: i32, v27: i32):
;     v8: i64 = sext v7
;     v9: i64 = shl v8, 2
;     v10: ptr.global = ptradd v5, v9
;     v13: i32 = load v10 + 8 align 4
;     v14: i32 = add v22, v27
;     v15: i32 = add v14, v13
;     v16: ptr.global = ptradd v6, v9
;     store v15 to v16 align 4
;     v17: i32 = add.nsw v7, 1
;     v18: i1 = icmp.slt v17, v2
;     br v18, b3, b2
;   b3:
;     jump b1(v17, v27, v13)
;   b2:
;     return
;   }
; }
