; test: divergent_loops, trivial_branches, linearize
; stage: normalized
; Two uniform branches in the arm of a divergent one. Between the ways of the first is nothing to skip, so lanes need not be
; asked where to go; the second stays for what it skips. Where all lanes are, such a branch costs little and stays (b8).
; run: k([1, 2, 3, 4]:i32, 1:i8) global=4 local=4 => [1, 2, 13, 14]:i32
; run: k([1, 2, 3, 4]:i32, 0:i8) global=4 local=4 => [8, 9, 30, 31]:i32

kernel "k" {
  args 16
  param "p" pointer.global "int*" size 8 align 8 offset 0
  param "u" value "char" size 1 align 1 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i8
  region r0 {
  b0(v0: ptr.global, v1: i8):
    v2: i64 = query.global_id 0
    v3: i64 = mul v2, 4
    v4: ptr.global = ptradd v0, v3
    v5: i32 = load v4 align 4
    v6: i1 = icmp.eq v1, 0:i8
    v7: i1 = icmp.ult v2, 2:i64
    br v7, b1, b2
  b1:
    jump b7(v5)
  b2:
    br v6, b3, b4
  b3:
    jump b5(20)
  b4:
    jump b5(10)
  b5(v8: i32):
    v9: i32 = add v5, v8
    br v6, b6, b9
  b6:
    store v9 to v4 align 4
    jump b10(v9)
  b9:
    jump b10(v9)
  b10(v10: i32):
    jump b7(v10)
  b7(v11: i32):
    br v6, b8, b11
  b8:
    jump b12(7)
  b11:
    jump b12(0)
  b12(v12: i32):
    v13: i32 = add v11, v12
    store v13 to v4 align 4
    return
  }
}

; output: divergent_loops, trivial_branches, linearize
; kernel "k" {
;   args 16
;   param "p" pointer.global "int*" size 8 align 8 offset 0
;   param "u" value "char" size 1 align 1 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): i8
;   region r0 {
;   b0(v0: ptr.global, v1: i8):
;     v2: i64 = query.global_id 0
;     v3: i64 = mul v2, 4
;     v4: ptr.global = ptradd v0, v3
;     v5: i32 = load v4 align 4
;     v6: i1 = icmp.eq v1, 0:i8
;     v7: i1 = icmp.ult v2, 2:i64
;     v23: i1 = xor v7, true
;     jump b1
;   b1 mask v7:
;     jump b2
;   b2 mask v23:
;     v24: i1 = and v23, v6
;     v25: i1 = xor v6, true
;     v26: i1 = and v23, v25
;     jump b3
;   b3 mask v24:
;     jump b4
;   b4 mask v26:
;     v27: i32 = select v26, 10, 20
;     jump b5
;   b5 mask v23:
;     v9: i32 = add v5, v27
;     v29: i1 = any v6
;     br v29, b6, b9
;   b6 mask v23:
;     store v9 to v4 align 4
;     jump b10(v9)
;   b9 mask v23:
;     jump b10(v9)
;   b10(v10: i32) mask v23:
;     v28: i32 = select v23, v10, v5
;     jump b7
;   b7:
;     br v6, b8, b11
;   b8:
;     jump b12(7)
;   b11:
;     jump b12(0)
;   b12(v12: i32):
;     v13: i32 = add v28, v12
;     store v13 to v4 align 4
;     return
;   }
; }
