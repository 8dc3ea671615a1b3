; test: split_conditions
; test: run
; stage: normalized
; launch: local(64,1,1)
; A group has one work-item along y: the id along y is the same in all of its work-items.
; run: groups_of_one_row(zeros(32), 3:i32, 1:i32) global=4x2 local=4x1 => [1, 1, 1, 0, 0, 0, 0, 0]:i32

kernel "groups_of_one_row" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "w" value "int" size 4 align 4 offset 8
  param "h" value "int" size 4 align 4 offset 12
  input value(0, 0): ptr.global
  input value(1, 0): i32
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32, v2: i32):
    v3: i64 = query.global_id 0
    v4: i32 = trunc v3
    v5: i64 = query.global_id 1
    v6: i32 = trunc v5
    v7: i1 = icmp.ult v4, v1
    v8: i1 = icmp.ult v6, v2
    v9: i1 = and v7, v8
    br v9, b1, b2
  b1:
    v10: i64 = shl v5, 2
    v11: i64 = add v10, v3
    v12: i64 = shl v11, 2
    v13: ptr.global = ptradd v0, v12
    store 1:i32 to v13 align 4
    jump b3
  b2:
    jump b3
  b3:
    return
  }
}

; output: split_conditions
; kernel "groups_of_one_row" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "w" value "int" size 4 align 4 offset 8
;   param "h" value "int" size 4 align 4 offset 12
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i32 = trunc v3
;     v5: i64 = query.global_id 1
;     v6: i32 = trunc v5
;     v7: i1 = icmp.ult v4, v1
;     v8: i1 = icmp.ult v6, v2
;     v9: i1 = and v7, v8
;     v17: i1 = freeze v8
;     br v17, b4, b5
;   b1:
;     v10: i64 = shl v5, 2
;     v11: i64 = add v10, v3
;     v12: i64 = shl v11, 2
;     v13: ptr.global = ptradd v0, v12
;     store 1:i32 to v13 align 4
;     jump b3
;   b2:
;     jump b3
;   b3:
;     return
;   b4:
;     br v7, b1, b6
;   b5:
;     jump b2
;   b6:
;     jump b2
;   }
; }
