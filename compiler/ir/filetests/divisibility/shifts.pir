; test: divisibility
; launch: ids_fit_int zero_offset full_groups rows
; passes: divisibility=always
; test: run
; stage: normalized
; A step of a sorting network: the pairs of pieces of 1 << n.
; run: shifts([1, 2, 3, 4, 5, 6, 7, 8]:i32, 0:i32) global=4 local=4 => [102, 1, 104, 3, 106, 5, 108, 7]:i32
; run: shifts([1, 2, 3, 4, 5, 6, 7, 8]:i32, 2:i32) global=4 local=4 => [105, 106, 107, 108, 1, 2, 3, 4]:i32

kernel "shifts" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    v2: i64 = query.global_id 0
    v3: i32 = trunc v2
    v4: i32 = shl 1:i32, v1
    v5: i32 = add v4, -1:i32
    v6: i32 = and v3, v5
    v7: i32 = lshr v3, v1
    v8: i32 = shl v7, 1:i32
    v9: i32 = shl v8, v1
    v10: i32 = add v6, v9
    v11: i64 = zext v10
    v12: i64 = shl v11, 2
    v13: ptr.global = ptradd v0, v12
    v14: i32 = load v13 align 4
    v15: i32 = add v10, v4
    v16: i64 = zext v15
    v17: i64 = shl v16, 2
    v18: ptr.global = ptradd v0, v17
    v19: i32 = load v18 align 4
    v20: i32 = add v19, 100:i32
    store v20 to v13 align 4
    store v14 to v18 align 4
    return
  }
}

; output: divisibility
; kernel "shifts" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "n" value "int" size 4 align 4 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32):
;     v27: i1 = icmp.uge v1, 4:i32
;     v28: i1 = freeze v27
;     v49: i1 = freeze v28
;     br v49, b1, b2
;   b1:
;     v2: i64 = query.global_id 0
;     v3: i32 = trunc v2
;     v53: i32 = shl 1, 4
;     v54: i32 = add v1, -4
;     v4: i32 = shl v53, v54
;     v5: i32 = add v4, -1
;     v55: i32 = and v3, -16
;     v56: i32 = and v55, v5
;     v57: i32 = and v3, 15
;     v6: i32 = add.nuw v56, v57
;     v58: i32 = and v3, -16
;     v7: i32 = lshr v58, v1
;     v8: i32 = shl v7, 1
;     v59: i32 = shl v8, 4
;     v60: i32 = add v1, -4
;     v9: i32 = shl v59, v60
;     v10: i32 = add v6, v9
;     v11: i64 = zext v10
;     v12: i64 = shl v11, 2
;     v13: ptr.global = ptradd v0, v12
;     v14: i32 = load v13 align 4
;     v15: i32 = add v10, v4
;     v16: i64 = zext v15
;     v17: i64 = shl v16, 2
;     v18: ptr.global = ptradd v0, v17
;     v19: i32 = load v18 align 4
;     v20: i32 = add v19, 100
;     store v20 to v13 align 4
;     store v14 to v18 align 4
;     jump b3
;   b2:
;     v29: i64 = query.global_id 0
;     v30: i32 = trunc v29
;     v31: i32 = shl 1, v1
;     v32: i32 = add v31, -1
;     v33: i32 = and v30, v32
;     v34: i32 = lshr v30, v1
;     v35: i32 = shl v34, 1
;     v36: i32 = shl v35, v1
;     v37: i32 = add v33, v36
;     v38: i64 = zext v37
;     v39: i64 = shl v38, 2
;     v40: ptr.global = ptradd v0, v39
;     v41: i32 = load v40 align 4
;     v42: i32 = add v37, v31
;     v43: i64 = zext v42
;     v44: i64 = shl v43, 2
;     v45: ptr.global = ptradd v0, v44
;     v46: i32 = load v45 align 4
;     v47: i32 = add v46, 100
;     store v47 to v40 align 4
;     store v41 to v45 align 4
;     jump b3
;   b3:
;     return
;   }
; }
