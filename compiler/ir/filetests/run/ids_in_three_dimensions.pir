; test: run
; Every query, with an offset and a smaller last group; ten words per item.
; run: ids(zeros(200)) global=5x1x1 local=2x1x1 offset=10x20x30 => [10, 0, 0, 5, 2, 2, 3, 10, 3, 0, 11, 1, 0, 5, 2, 2, 3, 10, 3, 0, 12, 0, 1, 5, 2, 2, 3, 10, 3, 0, 13, 1, 1, 5, 2, 2, 3, 10, 3, 0, 14, 0, 2, 5, 1, 2, 3, 10, 3, 0]:i32

kernel "ids" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.global_id 0
    v2: i64 = query.local_id 0
    v3: i64 = query.group_id 0
    v4: i64 = query.global_size 0
    v5: i64 = query.local_size 0
    v6: i64 = query.enqueued_local_size 0
    v7: i64 = query.num_groups 0
    v8: i64 = query.global_offset 0
    v9: i32 = query.work_dim 0
    v10: i64 = sub v1, v8
    v11: i64 = mul v10, 40
    v12: ptr.global = ptradd v0, v11
    v13: i32 = trunc v1
    v14: i32 = trunc v2
    v15: i32 = trunc v3
    v16: i32 = trunc v4
    v17: i32 = trunc v5
    v18: i32 = trunc v6
    v19: i32 = trunc v7
    v20: i32 = trunc v8
    store v13, v14, v15, v16, v17, v18, v19, v20, v9 to v12 align 4
    return
  }
}
