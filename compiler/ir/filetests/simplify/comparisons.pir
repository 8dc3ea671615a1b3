; test: simplify, dce
; test: run
; One operation for each rule of this section of the table, in its order, and a store of what it comes to.
; run: comparisons([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]:i32, 5:i32, 9:i32, 7:i32) global=1 local=1 => [1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0]:i32

kernel "comparisons" {
  args 20
  param "out" pointer.global "int*" size 8 align 8 offset 0
  param "x" value "int" size 4 align 4 offset 8
  param "y" value "int" size 4 align 4 offset 12
  param "z" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): i32
  input value(2, 0): i32
  input value(3, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32, v2: i32, v3: i32):
    v4: i1 = icmp.slt v1, v2
    v5: i1 = icmp.eq v1, v1
    v6: i32 = zext v5
    store v6 to v0 align 4
    v7: i1 = icmp.ne v1, v1
    v8: i32 = zext v7
    store v8 to v0 + 4 align 4
    v9: i1 = icmp.slt v1, v1
    v10: i32 = zext v9
    store v10 to v0 + 8 align 4
    v11: i1 = icmp.sle v1, v1
    v12: i32 = zext v11
    store v12 to v0 + 12 align 4
    v13: i1 = icmp.ult v1, v1
    v14: i32 = zext v13
    store v14 to v0 + 16 align 4
    v15: i1 = icmp.ule v1, v1
    v16: i32 = zext v15
    store v16 to v0 + 20 align 4
    v17: i1 = icmp.ult v1, 0:i32
    v18: i32 = zext v17
    store v18 to v0 + 24 align 4
    v19: i1 = icmp.uge v1, 0:i32
    v20: i32 = zext v19
    store v20 to v0 + 28 align 4
    v21: i1 = icmp.ugt v1, -1:i32
    v22: i32 = zext v21
    store v22 to v0 + 32 align 4
    v23: i1 = icmp.ule v1, -1:i32
    v24: i32 = zext v23
    store v24 to v0 + 36 align 4
    v25: i1 = icmp.slt v1, -2147483648:i32
    v26: i32 = zext v25
    store v26 to v0 + 40 align 4
    v27: i1 = icmp.sge v1, -2147483648:i32
    v28: i32 = zext v27
    store v28 to v0 + 44 align 4
    v29: i1 = icmp.sgt v1, 2147483647:i32
    v30: i32 = zext v29
    store v30 to v0 + 48 align 4
    v31: i1 = icmp.sle v1, 2147483647:i32
    v32: i32 = zext v31
    store v32 to v0 + 52 align 4
    v33: i1 = icmp.eq v4, true:i1
    v34: i32 = zext v33
    store v34 to v0 + 56 align 4
    v35: i1 = icmp.eq v4, false:i1
    v36: i32 = zext v35
    store v36 to v0 + 60 align 4
    v37: i1 = icmp.ne v4, true:i1
    v38: i32 = zext v37
    store v38 to v0 + 64 align 4
    v39: i1 = icmp.ne v4, false:i1
    v40: i32 = zext v39
    store v40 to v0 + 68 align 4
    v41: i32 = zext v4
    v42: i1 = icmp.ne v41, 0:i32
    v43: i32 = zext v42
    store v43 to v0 + 72 align 4
    v44: i32 = zext v4
    v45: i1 = icmp.eq v44, 0:i32
    v46: i32 = zext v45
    store v46 to v0 + 76 align 4
    return
  }
}

; output: simplify, dce
; kernel "comparisons" {
;   args 20
;   param "out" pointer.global "int*" size 8 align 8 offset 0
;   param "x" value "int" size 4 align 4 offset 8
;   param "y" value "int" size 4 align 4 offset 12
;   param "z" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   input value(2, 0): i32
;   input value(3, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32, v2: i32, v3: i32):
;     v4: i1 = icmp.slt v1, v2
;     store 1:i32 to v0 align 4
;     store 0:i32 to v0 + 4 align 4
;     store 0:i32 to v0 + 8 align 4
;     store 1:i32 to v0 + 12 align 4
;     store 0:i32 to v0 + 16 align 4
;     store 1:i32 to v0 + 20 align 4
;     store 0:i32 to v0 + 24 align 4
;     store 1:i32 to v0 + 28 align 4
;     store 0:i32 to v0 + 32 align 4
;     store 1:i32 to v0 + 36 align 4
;     store 0:i32 to v0 + 40 align 4
;     store 1:i32 to v0 + 44 align 4
;     store 0:i32 to v0 + 48 align 4
;     store 1:i32 to v0 + 52 align 4
;     v34: i32 = zext v4
;     store v34 to v0 + 56 align 4
;     v35: i1 = xor v4, true
;     v36: i32 = zext v35
;     store v36 to v0 + 60 align 4
;     v37: i1 = xor v4, true
;     v38: i32 = zext v37
;     store v38 to v0 + 64 align 4
;     v40: i32 = zext v4
;     store v40 to v0 + 68 align 4
;     v43: i32 = zext v4
;     store v43 to v0 + 72 align 4
;     v45: i1 = xor v4, true
;     v46: i32 = zext v45
;     store v46 to v0 + 76 align 4
;     return
;   }
; }
