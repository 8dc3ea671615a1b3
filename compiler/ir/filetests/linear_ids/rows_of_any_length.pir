; test: linear_ids
; gangs: layout(linear)
; test: run
; Ids follow from the place in the group, in groups that end a dimension early as well.
; run: rows_of_any_length(zeros(48)) global=4x3 local=3x2 => [0, 1, 2, 100, 10, 11, 12, 110, 200, 201, 202, 300]:i32

kernel "rows_of_any_length" {
  args 8
  param "out" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.global_id 0
    v2: i64 = query.global_id 1
    v3: i64 = shl v2, 2
    v4: i64 = add v3, v1
    v5: i64 = shl v4, 2
    v6: ptr.global = ptradd v0, v5
    v7: i64 = query.local_id 1
    v8: i64 = mul v7, 10
    v9: i64 = query.local_id 0
    v10: i64 = add v8, v9
    v11: i64 = query.group_id 0
    v12: i64 = query.group_id 1
    v13: i64 = shl v12, 1
    v14: i64 = add v13, v11
    v15: i64 = mul v14, 100
    v16: i64 = add v10, v15
    v17: i32 = trunc v16
    store v17 to v6 align 4
    return
  }
}

; output: linear_ids
; kernel "rows_of_any_length" {
;   args 8
;   param "out" pointer.global "int*" size 8 align 8 offset 0
;   input value(0, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global):
;     v22: i64 = query.linear_id 0
;     v23: i32 = trunc v22
;     v24: i64 = query.local_size 0
;     v25: i32 = trunc v24
;     v26: i32 = urem v23, v25
;     v27: i64 = zext v26
;     v28: i64 = query.group_id 0
;     v29: i64 = query.enqueued_local_size 0
;     v30: i64 = query.global_offset 0
;     v31: i64 = mul v28, v29
;     v32: i64 = add v31, v30
;     v33: i64 = add v32, v27
;     v34: i64 = query.linear_id 0
;     v35: i32 = trunc v34
;     v36: i64 = query.local_size 0
;     v37: i32 = trunc v36
;     v38: i32 = udiv v35, v37
;     v39: i64 = query.local_size 1
;     v40: i32 = trunc v39
;     v41: i32 = urem v38, v40
;     v42: i64 = zext v41
;     v43: i64 = query.group_id 1
;     v44: i64 = query.enqueued_local_size 1
;     v45: i64 = query.global_offset 1
;     v46: i64 = mul v43, v44
;     v47: i64 = add v46, v45
;     v48: i64 = add v47, v42
;     v3: i64 = shl v48, 2
;     v4: i64 = add v3, v33
;     v5: i64 = shl v4, 2
;     v6: ptr.global = ptradd v0, v5
;     v8: i64 = mul v42, 10
;     v10: i64 = add v8, v27
;     v11: i64 = query.group_id 0
;     v12: i64 = query.group_id 1
;     v13: i64 = shl v12, 1
;     v14: i64 = add v13, v11
;     v15: i64 = mul v14, 100
;     v16: i64 = add v10, v15
;     v17: i32 = trunc v16
;     store v17 to v6 align 4
;     return
;   }
; }
