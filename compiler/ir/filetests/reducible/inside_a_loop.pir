; test: reducible
; stage: regions
; The outer cycle has one entry, b1; only the inner one, b2 and b3, gets a header.
; run: inside_a_loop(zeros(12)) global=3 local=3 => [4, 4, 5]:i32

kernel "inside_a_loop" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.local_id 0
    v2: i64 = shl v1, 2
    v3: ptr.global = ptradd v0, v2
    v4: i32 = trunc v1
    jump b1(v4)
  b1(v5: i32):
    v6: i32 = and v5, 1
    v7: i1 = icmp.eq v6, 0:i32
    br v7, b2(v5), b3(v5)
  b2(v8: i32):
    v9: i32 = add v8, 2
    jump b3(v9)
  b3(v10: i32):
    v11: i1 = icmp.slt v10, 2:i32
    br v11, b2(v10), b4
  b4:
    v12: i32 = add v10, 1
    v13: i1 = icmp.slt v12, 4:i32
    br v13, b1(v12), b5
  b5:
    store v12 to v3 align 4
    return
  }
}

; output: reducible
; kernel "inside_a_loop" {
;   args 8
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   input value(0, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global):
;     v1: i64 = query.local_id 0
;     v2: i64 = shl v1, 2
;     v3: ptr.global = ptradd v0, v2
;     v4: i32 = trunc v1
;     jump b1(v4)
;   b1(v5: i32):
;     v6: i32 = and v5, 1
;     v7: i1 = icmp.eq v6, 0:i32
;     br v7, b6(false, 0, v5), b6(true, v5, 0)
;   b2(v8: i32):
;     v9: i32 = add v8, 2
;     jump b6(true, v9, 0)
;   b3(v10: i32):
;     v11: i1 = icmp.slt v10, 2:i32
;     br v11, b6(false, 0, v10), b4
;   b4:
;     v12: i32 = add v10, 1
;     v13: i1 = icmp.slt v12, 4:i32
;     br v13, b1(v12), b5
;   b5:
;     store v12 to v3 align 4
;     return
;   b6(v19: i1, v20: i32, v21: i32):
;     br v19, b3(v20), b2(v21)
;   }
; }
