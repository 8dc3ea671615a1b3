; test: simplify, dce
; test: run
; One operation for each rule of this section of the table, in its order, and a store of what it comes to.
; run: products_and_quotients([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]:i32, 5:i32, 9:i32, 7:i32) global=1 local=1 => [0, 5, 5, 1, 0, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0]:i32

kernel "products_and_quotients" {
  args 20
  param "out" pointer.global "int*" size 8 align 8 offset 0
  param "x" value "int" size 4 align 4 offset 8
  param "y" value "int" size 4 align 4 offset 12
  param "z" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): i32
  input value(2, 0): i32
  input value(3, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32, v2: i32, v3: i32):
    v4: i1 = icmp.slt v1, v2
    v5: i32 = mul v1, 0
    store v5 to v0 align 4
    v6: i32 = mul v1, 1
    store v6 to v0 + 4 align 4
    v7: i32 = udiv v1, 1
    store v7 to v0 + 8 align 4
    v8: i32 = udiv v1, v1
    store v8 to v0 + 12 align 4
    v9: i32 = udiv 0, v1
    store v9 to v0 + 16 align 4
    v10: i32 = sdiv v1, 1
    store v10 to v0 + 20 align 4
    v11: i32 = sdiv v1, v1
    store v11 to v0 + 24 align 4
    v12: i32 = sdiv 0, v1
    store v12 to v0 + 28 align 4
    v13: i32 = urem v1, 1
    store v13 to v0 + 32 align 4
    v14: i32 = urem v1, v1
    store v14 to v0 + 36 align 4
    v15: i32 = urem 0, v1
    store v15 to v0 + 40 align 4
    v16: i32 = srem v1, 1
    store v16 to v0 + 44 align 4
    v17: i32 = srem v1, -1
    store v17 to v0 + 48 align 4
    v18: i32 = srem v1, v1
    store v18 to v0 + 52 align 4
    v19: i32 = srem 0, v1
    store v19 to v0 + 56 align 4
    return
  }
}

; output: simplify, dce
; kernel "products_and_quotients" {
;   args 20
;   param "out" pointer.global "int*" size 8 align 8 offset 0
;   param "x" value "int" size 4 align 4 offset 8
;   param "y" value "int" size 4 align 4 offset 12
;   param "z" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   input value(2, 0): i32
;   input value(3, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32, v2: i32, v3: i32):
;     store 0:i32 to v0 align 4
;     store v1 to v0 + 4 align 4
;     store v1 to v0 + 8 align 4
;     store 1:i32 to v0 + 12 align 4
;     store 0:i32 to v0 + 16 align 4
;     store v1 to v0 + 20 align 4
;     store 1:i32 to v0 + 24 align 4
;     store 0:i32 to v0 + 28 align 4
;     store 0:i32 to v0 + 32 align 4
;     store 0:i32 to v0 + 36 align 4
;     store 0:i32 to v0 + 40 align 4
;     store 0:i32 to v0 + 44 align 4
;     store 0:i32 to v0 + 48 align 4
;     store 0:i32 to v0 + 52 align 4
;     store 0:i32 to v0 + 56 align 4
;     return
;   }
; }
