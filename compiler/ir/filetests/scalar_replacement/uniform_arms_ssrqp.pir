; test: scalar_replacement
; test: run
; launch: apart
; scalar_replacement: ssrqp
; stage: normalized
; All lanes take one of the arms: nothing is gained in front of the branch.
; run: k([1, 2, 4, 8, 16]:i32, [0, 0, 0, 0]:i32, 2:i32) global=4 local=4 => [1, 2, 4, 8, 16]:i32, [6, 12, 24, 48]:i32

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
    v7: i32 = trunc v3
    v8: i1 = icmp.slt 1:i32, v2
    br v8, b1, b2
  b1:
    v9: i32 = load v5 + 4 align 4
    v10: i32 = mul v9, 3
    jump b3(v10)
  b2:
    v14: i32 = load v5 + 4 align 4
    v15: i32 = mul v14, 5
    jump b3(v15)
  b3(v11: i32):
    store v11 to v6 align 4
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
;     v7: i32 = trunc v3
;     v8: i1 = icmp.slt 1:i32, v2
;     br v8, b1, b2
;   b1:
;     v9: i32 = load v5 + 4 align 4
;     v10: i32 = mul v9, 3
;     jump b3(v10)
;   b2:
;     v14: i32 = load v5 + 4 align 4
;     v15: i32 = mul v14, 5
;     jump b3(v15)
;   b3(v11: i32):
;     store v11 to v6 align 4
;     return
;   }
; }
