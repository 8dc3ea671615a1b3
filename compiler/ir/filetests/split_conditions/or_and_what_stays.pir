; test: split_conditions
; test: run
; stage: normalized
; `x[i] > 9 || u == 0` goes in if `u` is 0 without a look at the lanes. What is uniform or divergent as a whole stays, and so
; does the condition of a loop: who is still in it is asked of all its exits together.
; run: or_and_what_stays([11, 2, 13, 4]:i32, 0:i32) global=4 local=4 => [22, 4, 26, 8]:i32
; run: or_and_what_stays([11, 2, 13, 4]:i32, 5:i32) global=4 local=4 => [22, 2, 26, 4]:i32

kernel "or_and_what_stays" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "u" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    v2: i64 = query.global_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    v5: i32 = load v4 align 4
    v6: i1 = icmp.sgt v5, 9:i32
    v7: i1 = icmp.eq v1, 0:i32
    v8: i1 = or v6, v7
    br v8, b1, b2
  b1:
    v9: i32 = shl v5, 1
    store v9 to v4 align 4
    jump b3
  b2:
    jump b3
  b3:
    v10: i1 = icmp.sgt v5, 100:i32
    v11: i1 = and v6, v10
    br v11, b4, b5
  b4:
    store v1 to v4 align 4
    jump b6
  b5:
    jump b6
  b6:
    jump b7(v1)
  b7(v12: i32):
    v13: i32 = add v12, -1
    v14: i1 = icmp.sgt v13, 0:i32
    v15: i1 = icmp.sgt v5, v13
    v16: i1 = and v14, v15
    br v16, b9, b8
  b9:
    jump b7(v13)
  b8:
    return
  }
}

; output: split_conditions
; kernel "or_and_what_stays" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "u" value "int" size 4 align 4 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32):
;     v2: i64 = query.global_id 0
;     v3: i64 = shl v2, 2
;     v4: ptr.global = ptradd v0, v3
;     v5: i32 = load v4 align 4
;     v6: i1 = icmp.sgt v5, 9:i32
;     v7: i1 = icmp.eq v1, 0:i32
;     v8: i1 = or v6, v7
;     v24: i1 = freeze v7
;     br v24, b11, b10
;   b1:
;     v9: i32 = shl v5, 1
;     store v9 to v4 align 4
;     jump b3
;   b2:
;     jump b3
;   b3:
;     v10: i1 = icmp.sgt v5, 100:i32
;     v11: i1 = and v6, v10
;     br v11, b4, b5
;   b4:
;     store v1 to v4 align 4
;     jump b6
;   b5:
;     jump b6
;   b6:
;     jump b7(v1)
;   b7(v12: i32):
;     v13: i32 = add v12, -1
;     v14: i1 = icmp.sgt v13, 0:i32
;     v15: i1 = icmp.sgt v5, v13
;     v16: i1 = and v14, v15
;     br v16, b9, b8
;   b9:
;     jump b7(v13)
;   b8:
;     return
;   b10:
;     br v6, b12, b2
;   b11:
;     jump b1
;   b12:
;     jump b1
;   }
; }
