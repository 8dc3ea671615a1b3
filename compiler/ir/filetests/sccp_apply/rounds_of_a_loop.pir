; test: sccp_apply, join_blocks, simplify, dce
; test: run
; A loop whose test is no constant stays one. What it passes around that is the same in all rounds is a constant; what
; nobody reads is passed around no more.
; run: rounds([7, 8]:i32, 3:i32) global=2 local=2 => [15, 15]:i32
; run: rounds([7, 8]:i32, 0:i32) global=2 local=1 => [0, 0]:i32

kernel "rounds" {
  args 12
  param "out" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    v2: i64 = query.global_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    jump b1(0:i32, 5:i32, 0:i32, v1)
  b1(v5: i32, v6: i32, v7: i32, v8: i32):
    v9: i1 = icmp.slt v5, v1
    br v9, b2, b3(v7)
  b2:
    v10: i32 = add v7, v6
    v11: i32 = add v5, 1:i32
    v12: i32 = or v6, 4:i32
    v13: i32 = add v8, v8
    jump b1(v11, v12, v10, v13)
  b3(v14: i32):
    store v14 to v4 align 4
    return
  }
}

; output: sccp_apply, join_blocks, simplify, dce
; kernel "rounds" {
;   args 12
;   param "out" pointer.global "int*" size 8 align 8 offset 0
;   param "n" value "int" size 4 align 4 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32):
;     v2: i64 = query.global_id 0
;     v3: i64 = shl v2, 2
;     v4: ptr.global = ptradd v0, v3
;     jump b1(0, 0)
;   b1(v5: i32, v7: i32):
;     v9: i1 = icmp.slt v5, v1
;     br v9, b2, b3(v7)
;   b2:
;     v10: i32 = add v7, 5
;     v11: i32 = add v5, 1
;     jump b1(v11, v10)
;   b3(v14: i32):
;     store v14 to v4 align 4
;     return
;   }
; }
