; test: scalar_replacement
; test: run
; launch: apart
; stage: normalized
; A fence lets others be seen that have written meanwhile.
; run: k([1, 2, 4, 8, 16, 32]:i32, [0]:i32, 3:i32) global=1 local=1 => [1, 2, 4, 8, 16, 32]:i32, [21]:i32

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
    v12: i32 = load v10 + 4 align 4
    fence.acq_rel
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
;     jump b1(0, 0)
;   b1(v7: i32, v20: i32):
;     v8: i64 = sext v7
;     v9: i64 = shl v8, 2
;     v10: ptr.global = ptradd v5, v9
;     v11: i32 = load v10 align 4
;     v12: i32 = load v10 + 4 align 4
;     fence.acq_rel
;     v14: i32 = add v11, v12
;     v15: i32 = add v20, v14
;     v17: i32 = add.nsw v7, 1
;     v18: i1 = icmp.slt v17, v2
;     br v18, b3, b2(v15)
;   b3:
;     jump b1(v17, v15)
;   b2(v19: i32):
;     store v19 to v6 align 4
;     return
;   }
; }
