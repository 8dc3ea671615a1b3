; test: branch_fusion
; test: fusions
; test: run
; stage: normalized
; Both sides gather already: one gather from the addresses of both.
; run: scattered_loads([1, 0, 3, 2]:i32, [20, 21, 22, 23]:i32, 2:i32) global=4 local=4 => [22, 20, 24, 25]:i32, _

kernel "scattered_loads" {
  args 24
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  param "u" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl.nsw.nuw v3, 2
    v5: ptr.global = ptradd.inbounds v0, v4
    v6: i32 = load v5 align 4
    v7: ptr.global = ptradd.inbounds v1, v4
    v8: i32 = load v7 align 4
    v9: i1 = icmp.slt v6, v2
    v10: i64 = sext v6
    v11: i64 = shl.nsw v10, 2
    v12: i32 = xor v6, 0
    v13: i64 = sext v12
    v14: i64 = shl.nsw v13, 2
    br v9, b1, b2 ; fusion: 3 of 3 and 6 instructions, profit 52
  b1:
    v15: ptr.global = ptradd.inbounds v1, v11
    v16: i32 = load v15 align 4
    v17: i32 = add v16, v6
    jump b3(v17)
  b2:
    v18: i32 = xor v6, 1
    v19: i64 = sext v18
    v20: i64 = shl.nsw v19, 2
    v21: ptr.global = ptradd.inbounds v1, v20
    v22: i32 = load v21 align 4
    v23: i32 = add v22, v2
    jump b3(v23)
  b3(v24: i32):
    store v24 to v5 align 4
    return
  }
}

; output: branch_fusion
; kernel "scattered_loads" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "y" pointer.global "int*" size 8 align 8 offset 8
;   param "u" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl.nsw.nuw v3, 2
;     v5: ptr.global = ptradd.inbounds v0, v4
;     v6: i32 = load v5 align 4
;     v7: ptr.global = ptradd.inbounds v1, v4
;     v8: i32 = load v7 align 4
;     v9: i1 = icmp.slt v6, v2
;     v10: i64 = sext v6
;     v11: i64 = shl.nsw v10, 2
;     v12: i32 = xor v6, 0
;     v13: i64 = sext v12
;     v14: i64 = shl.nsw v13, 2
;     v28: i32 = xor v6, 1
;     v29: i64 = sext v28
;     v30: i64 = shl v29, 2
;     v31: i64 = select v9, v11, v30
;     v32: ptr.global = ptradd.inbounds v1, v31
;     v33: i32 = load v32 align 4
;     v34: i32 = select v9, v6, v2
;     v35: i32 = add v33, v34
;     jump b3(v35)
;   b3(v24: i32):
;     store v24 to v5 align 4
;     return
;   }
; }
