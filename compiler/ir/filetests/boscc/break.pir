; test: divergent_loops, boscc
; test: run
; stage: normalized
; The same arm, of which some lanes leave the loop (`break`).
; run: break([1, 60, 3, 20]:i32, 0:i32, 0:i32) global=4 local=4 => [1001, 60, 1003, 1120]:i32

kernel "break" {
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
    v7: i32 = or v1, 1
    jump b5(0:i32, v6)
  b5(v12: i32, v13: i32):
    v14: i1 = icmp.slt v12, 3:i32
    br v14, b6, b10(v13)
  b10(v18: i32):
    jump b7(v18)
  b6:
    v8: i1 = icmp.sgt v13, 9:i32
    br v8, b1, b9
  b9:
    jump b2(v13)
  b1:
    v20: i32 = sdiv v13, v7
    v21: i32 = sdiv v20, v7
    v22: i32 = sdiv v21, v7
    v23: i32 = sdiv v22, v7
    v30: i1 = icmp.sgt v23, 49:i32
    v31: i32 = add v23, 100
    br v30, b8(v23), b12
  b12:
    jump b2(v31)
  b2(v9: i32):
    v10: i32 = add v9, 1000
    jump b4(v10)
  b4(v15: i32):
    v16: i32 = add v12, 1
    jump b5(v16, v15)
  b8(v19: i32):
    jump b7(v19)
  b7(v17: i32):
    store v17 to v5 align 4
    return
  }
}

; output: divergent_loops, boscc
; kernel "break" {
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
;     v7: i32 = or v1, 1
;     jump b13(0, v6, true, false, 0, 0)
;   b5:
;     v14: i1 = icmp.slt v12, 3:i32
;     br v14, b6, b15(v12, v13, false, v34, v35, v13)
;   b10(v18: i32):
;     jump b7(v18)
;   b6:
;     v8: i1 = icmp.sgt v13, 9:i32
;     br v8, b18, b9
;   b9:
;     jump b2(v13)
;   b1:
;     v20: i32 = sdiv v13, v7
;     v21: i32 = sdiv v20, v7
;     v22: i32 = sdiv v21, v7
;     v23: i32 = sdiv v22, v7
;     v30: i1 = icmp.sgt v23, 49:i32
;     v31: i32 = add v23, 100
;     br v30, b15(v12, v13, false, true, v23, v36), b12
;   b12:
;     jump b2(v31)
;   b2(v9: i32):
;     v10: i32 = add v9, 1000
;     jump b4(v10)
;   b4(v15: i32):
;     v16: i32 = add v12, 1
;     jump b15(v16, v15, true, v34, v35, v36)
;   b8(v19: i32):
;     jump b7(v19)
;   b7(v17: i32):
;     store v17 to v5 align 4
;     return
;   b13(v12: i32, v13: i32, v33: i1, v34: i1, v35: i32, v36: i32):
;     v45: i1 = any v33
;     br v45, b14, b16
;   b14:
;     br v33, b5, b15(v12, v13, false, v34, v35, v36)
;   b15(v37: i32, v38: i32, v39: i1, v40: i1, v41: i32, v42: i32):
;     jump b13(v37, v38, v39, v40, v41, v42)
;   b16:
;     br v34, b8(v35), b17(v36)
;   b17(v46: i32):
;     jump b10(v46)
;   b18:
;     v47: i1 = any true
;     br v47, b1, b19
;   b19:
;     br false, b20, b21
;   b20:
;     jump b15(0, 0, false, false, 0, 0)
;   b21:
;     jump b2(0)
;   }
; }
