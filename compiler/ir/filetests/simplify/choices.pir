; test: simplify, dce
; test: run
; One operation for each rule of this section of the table, in its order, and a store of what it comes to.
; run: choices([0, 0, 0, 0, 0, 0, 0]:i32, 5:i32, 9:i32, 7:i32) global=1 local=1 => [5, 9, 5, 1, 0, 5, 5]:i32

kernel "choices" {
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
    v5: i32 = select true, v1, v2
    store v5 to v0 align 4
    v6: i32 = select false, v1, v2
    store v6 to v0 + 4 align 4
    v7: i32 = select v4, v1, v1
    store v7 to v0 + 8 align 4
    v8: i1 = select v4, true, false
    v9: i32 = zext v8
    store v9 to v0 + 12 align 4
    v10: i1 = select v4, false, true
    v11: i32 = zext v10
    store v11 to v0 + 16 align 4
    v12: i32 = select v4, v1, v2
    v13: i32 = select v4, v12, v3
    store v13 to v0 + 20 align 4
    v14: i32 = select v4, v2, v3
    v15: i32 = select v4, v1, v14
    store v15 to v0 + 24 align 4
    return
  }
}

; output: simplify, dce
; kernel "choices" {
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
;     v4: i1 = icmp.slt v1, v2
;     store v1 to v0 align 4
;     store v2 to v0 + 4 align 4
;     store v1 to v0 + 8 align 4
;     v9: i32 = zext v4
;     store v9 to v0 + 12 align 4
;     v10: i1 = xor v4, true
;     v11: i32 = zext v10
;     store v11 to v0 + 16 align 4
;     v13: i32 = select v4, v1, v3
;     store v13 to v0 + 20 align 4
;     v15: i32 = select v4, v1, v3
;     store v15 to v0 + 24 align 4
;     return
;   }
; }
