; test: scalar_replacement
; test: run
; launch: apart
; stage: normalized
; What an iteration reads first, the one before the last has read behind a gap. The first words lie between two that are read.
; run: k([1, 2, 4, 8, 16, 32]:i32, [0, 0]:i32, 3:i32) global=2 local=2 => [1, 2, 4, 8, 16, 32]:i32, [35, 70]:i32

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
    jump b1(0:i32, 0:i32)
  b1(v7: i32, v20: i32):
    v8: i64 = sext v7
    v9: i64 = shl v8, 2
    v10: ptr.global = ptradd v5, v9
    v11: i32 = load v10 align 4
    v12: i32 = load v10 + 8 align 4
    v14: i32 = add v11, v12
    v15: i32 = add v20, v14
    v17: i32 = add.nsw v7, 1
    v18: i1 = icmp.slt v17, v2
    br v18, b3, b2(v15)
  b3:
    jump b1(v17, v15)
  b2(v19: i32):
    store v19 to v6 align 4
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
;     v25: i64 = mul v3, 4
;     v26: ptr.global = ptradd v0, v25
;     v27: i32 = load v26 align 4
;     v28: i64 = mul v3, 4
;     v29: ptr.global = ptradd v0, v28
;     v30: i32 = load v29 + 4 align 4
;     jump b1(0, 0, v27, v30)
;   b1(v7: i32, v20: i32, v22: i32, v23: i32):
;     v8: i64 = sext v7
;     v9: i64 = shl v8, 2
;     v10: ptr.global = ptradd v5, v9
;     v12: i32 = load v10 + 8 align 4
;     v14: i32 = add v22, v12
;     v15: i32 = add v20, v14
;     v17: i32 = add.nsw v7, 1
;     v18: i1 = icmp.slt v17, v2
;     br v18, b3, b2(v15)
;   b3:
;     jump b1(v17, v15, v23, v12)
;   b2(v19: i32):
;     store v19 to v6 align 4
;     return
;   }
; }
