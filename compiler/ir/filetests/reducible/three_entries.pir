; test: reducible
; stage: regions
; A switch jumps into three blocks of a cycle: the header asks by a switch where to go on.
; run: three_entries(zeros(12)) global=3 local=3 => [3, 13, 8]:i32

kernel "three_entries" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.local_id 0
    v2: i64 = shl v1, 2
    v3: ptr.global = ptradd v0, v2
    switch v1 [0: b1(0), 1: b2(10)] default b3(8)
  b1(v4: i32):
    v5: i32 = add v4, 1
    jump b2(v5)
  b2(v6: i32):
    v7: i32 = add v6, 2
    jump b3(v7)
  b3(v8: i32):
    v9: i1 = icmp.slt v8, 3:i32
    br v9, b1(v8), b4
  b4:
    v10: i1 = icmp.eq v8, 12:i32
    br v10, b5(13), b5(v8)
  b5(v11: i32):
    store v11 to v3 align 4
    return
  }
}

; output: reducible
; kernel "three_entries" {
;   args 8
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   input value(0, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global):
;     v1: i64 = query.local_id 0
;     v2: i64 = shl v1, 2
;     v3: ptr.global = ptradd v0, v2
;     switch v1 [0: b6(1, 0), 1: b6(2, 10)] default b6(0, 8)
;   b1(v4: i32):
;     v5: i32 = add v4, 1
;     jump b6(2, v5)
;   b2(v6: i32):
;     v7: i32 = add v6, 2
;     jump b6(0, v7)
;   b3(v8: i32):
;     v9: i1 = icmp.slt v8, 3:i32
;     br v9, b6(1, v8), b4
;   b4:
;     v10: i1 = icmp.eq v8, 12:i32
;     br v10, b5(13), b5(v8)
;   b5(v11: i32):
;     store v11 to v3 align 4
;     return
;   b6(v21: i32, v22: i32):
;     switch v21 [0: b3(v22), 1: b1(v22)] default b2(v22)
;   }
; }
