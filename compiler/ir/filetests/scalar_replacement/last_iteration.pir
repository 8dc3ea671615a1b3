; test: scalar_replacement
; test: run
; launch: apart
; stage: normalized
; Figure 6: an arm reads what all lanes read in the next iteration. The last one, which has no next one, stands by itself.
; run: k([1, 2, 4, 8, 16, 32, 64, 128]:i32, [0, 0, 0, 0]:i32, 3:i32) global=4 local=4 => [1, 2, 4, 8, 16, 32, 64, 128]:i32, [21, 42, 28, 56]:i32
; run: k([1, 2, 4, 8]:i32, [0, 0, 0, 0]:i32, 1:i32) global=3 local=3 => [1, 2, 4, 8]:i32, [3, 6, 4, 0]:i32

kernel "k" {
  args 24
  param "a" pointer.global "int*" size 8 align 8 offset 0
  param "o" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: ptr.global = ptradd v1, v4
    v7: i32 = trunc v3
    v8: i1 = icmp.slt v7, 2:i32
    jump b1(0:i32, 0:i32)
  b1(v10: i32, v11: i32):
    v12: i64 = sext v10
    v13: i64 = shl v12, 2
    v14: ptr.global = ptradd v5, v13
    br v8, b2, b3
  b2:
    v15: i32 = load v14 + 4 align 4
    v16: i32 = add v11, v15
    jump b4(v16)
  b3:
    jump b4(v11)
  b4(v17: i32):
    v18: i32 = load v14 align 4
    v19: i32 = add v17, v18
    v20: i32 = add.nsw v10, 1
    v21: i1 = icmp.slt v20, v2
    br v21, b5, b6(v19)
  b5:
    jump b1(v20, v19)
  b6(v22: i32):
    store v22 to v6 align 4
    return
  }
}

; output: scalar_replacement
; kernel "k" {
;   args 24
;   param "a" pointer.global "int*" size 8 align 8 offset 0
;   param "o" pointer.global "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: ptr.global = ptradd v1, v4
;     v7: i32 = trunc v3
;     v8: i1 = icmp.slt v7, 2:i32
;     v38: i32 = add.nsw 0, 1
;     v39: i1 = icmp.slt v38, v2
;     br v39, b13, b12
;   b1(v10: i32, v11: i32, v52: i32):
;     v45: i64 = mul v3, 4
;     v46: i64 = sext v10
;     v47: i64 = mul v46, 4
;     v48: i64 = add v45, v47
;     v49: ptr.global = ptradd v0, v48
;     v50: i32 = load v49 + 4 align 4
;     br v8, b2, b3
;   b2:
;     v16: i32 = add v11, v50
;     jump b4(v16)
;   b3:
;     jump b4(v11)
;   b4(v17: i32):
;     v19: i32 = add v17, v52
;     v20: i32 = add.nsw v10, 1
;     v40: i32 = add.nsw v20, 1
;     v41: i1 = icmp.slt v40, v2
;     br v41, b5, b14(v20, v19)
;   b5:
;     jump b1(v20, v19, v50)
;   b6(v22: i32):
;     store v22 to v6 align 4
;     return
;   b7(v26: i32, v27: i32):
;     v28: i64 = sext v26
;     v29: i64 = shl v28, 2
;     v30: ptr.global = ptradd v5, v29
;     br v8, b8, b9
;   b8:
;     v31: i32 = load v30 + 4 align 4
;     v32: i32 = add v27, v31
;     jump b10(v32)
;   b9:
;     jump b10(v27)
;   b10(v33: i32):
;     v34: i32 = load v30 align 4
;     v35: i32 = add v33, v34
;     jump b6(v35)
;   b12:
;     jump b7(0, 0)
;   b13:
;     v54: i64 = mul v3, 4
;     v55: ptr.global = ptradd v0, v54
;     v56: i32 = load v55 align 4
;     jump b1(0, 0, v56)
;   b14(v42: i32, v43: i32):
;     jump b7(v42, v43)
;   }
; }
