; test: sccp_apply, join_blocks, simplify, dce
; test: run
; A choice by a constant leaves one of its ways, which joins the rest. A select by one is what it selects, and what only the
; others needed is gone: the loads of the other ways, the parameter that nobody reads, the sum.
; run: pick([10, 20, 30, 40]:i32, [0, 0, 0, 0]:i32, 3:i32) global=4 local=4 => _, [12, 22, 32, 42]:i32
; run: pick([1, 2, 3, 4]:i32, [0, 0, 0, 0]:i32, 0:i32) global=4 local=2 => _, [3, 4, 5, 6]:i32

kernel "pick" {
  args 20
  param "in" pointer.global "int*" size 8 align 8 offset 0
  param "out" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: i32 = shl 4:i32, 1:i32
    v7: i32 = add v2, 1:i32
    switch v6 [1: b1, 8: b2(v7), 16: b3] default b4(v7)
  b1:
    v8: i8 = load v5 align 1
    v9: i32 = zext v8
    jump b4(v9)
  b2(v10: i32):
    v11: i32 = load v5 align 4
    jump b4(v11)
  b3:
    v12: i16 = load v5 align 2
    v13: i32 = zext v12
    jump b4(v13)
  b4(v14: i32):
    v15: i1 = icmp.ult v6, 9:i32
    v16: i32 = add v14, 2:i32
    v17: i32 = mul v14, v2
    v18: i32 = select v15, v16, v17
    v19: ptr.global = ptradd v1, v4
    store v18 to v19 align 4
    return
  }
}

; output: sccp_apply, join_blocks, simplify, dce
; kernel "pick" {
;   args 20
;   param "in" pointer.global "int*" size 8 align 8 offset 0
;   param "out" pointer.global "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v11: i32 = load v5 align 4
;     v16: i32 = add v11, 2
;     v19: ptr.global = ptradd v1, v4
;     store v16 to v19 align 4
;     return
;   }
; }
