; test: split_conditions
; test: run
; stage: normalized
; `u < 4 && x[i] > 9 && w != 0`: what is the same in all lanes is asked first, and no lane's arm runs without it.
; run: and_of_three([11, 2, 13, 4]:i32, 3:i32, 1:i32) global=4 local=4 => [22, 2, 26, 4]:i32
; run: and_of_three([11, 2, 13, 4]:i32, 4:i32, 1:i32) global=4 local=4 => [11, 2, 13, 4]:i32
; run: and_of_three([11, 2, 13, 4]:i32, 3:i32, 0:i32) global=4 local=4 => [11, 2, 13, 4]:i32

kernel "and_of_three" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "u" value "int" size 4 align 4 offset 8
  param "w" value "int" size 4 align 4 offset 12
  input value(0, 0): ptr.global
  input value(1, 0): i32
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: i32 = load v5 align 4
    v7: i1 = icmp.slt v1, 4:i32
    v8: i1 = icmp.sgt v6, 9:i32
    v9: i1 = and v7, v8
    v10: i1 = icmp.ne v2, 0:i32
    v11: i1 = select v9, v10, false
    br v11, b1, b2
  b1:
    v12: i32 = shl v6, 1
    store v12 to v5 align 4
    jump b3
  b2:
    jump b3
  b3:
    return
  }
}

; output: split_conditions
; kernel "and_of_three" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "u" value "int" size 4 align 4 offset 8
;   param "w" value "int" size 4 align 4 offset 12
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: i32 = load v5 align 4
;     v7: i1 = icmp.slt v1, 4:i32
;     v8: i1 = icmp.sgt v6, 9:i32
;     v9: i1 = and v7, v8
;     v10: i1 = icmp.ne v2, 0:i32
;     v11: i1 = select v9, v10, false
;     v19: i1 = select v7, v10, false
;     v20: i1 = freeze v19
;     br v20, b4, b5
;   b1:
;     v12: i32 = shl v6, 1
;     store v12 to v5 align 4
;     jump b3
;   b2:
;     jump b3
;   b3:
;     return
;   b4:
;     br v8, b1, b6
;   b5:
;     jump b2
;   b6:
;     jump b2
;   }
; }
