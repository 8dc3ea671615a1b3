; test: promote_places
; launch: apart
; test: run
; stage: normalized
; The inner loop's second exit leaves the outer one as well, in which the address is computed: the store stays.
; run: exit_of_two_loops([1, 2, 3, 4]:i32, 3:i32) global=1 local=1 => [4, 2, 3, 4]:i32

kernel "exit_of_two_loops" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    jump b1(0:i64)
  b1(v2: i64):
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    jump b2(0:i32)
  b2(v5: i32):
    v6: i32 = load v4 align 4
    v7: i32 = add v6, 1:i32
    store v7 to v4 align 4
    v8: i1 = icmp.sgt v7, v1
    br v8, b3, b4
  b3:
    jump b5
  b4:
    v9: i32 = add v5, 1:i32
    v10: i1 = icmp.slt v9, 5:i32
    br v10, b6, b7
  b6:
    jump b2(v9)
  b7:
    v11: i64 = add v2, 1:i64
    jump b1(v11)
  b5:
    return
  }
}

; output: promote_places
; kernel "exit_of_two_loops" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "n" value "int" size 4 align 4 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32):
;     jump b1(0)
;   b1(v2: i64):
;     v3: i64 = shl v2, 2
;     v4: ptr.global = ptradd v0, v3
;     jump b2(0)
;   b2(v5: i32):
;     v6: i32 = load v4 align 4
;     v7: i32 = add v6, 1
;     store v7 to v4 align 4
;     v8: i1 = icmp.sgt v7, v1
;     br v8, b3, b4
;   b3:
;     jump b5
;   b4:
;     v9: i32 = add v5, 1
;     v10: i1 = icmp.slt v9, 5:i32
;     br v10, b6, b7
;   b6:
;     jump b2(v9)
;   b7:
;     v11: i64 = add v2, 1
;     jump b1(v11)
;   b5:
;     return
;   }
; }
