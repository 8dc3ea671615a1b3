; test: divergent_loops, boscc
; test: run
; stage: normalized
; Moll 2021, figure 9.4: a costly arm in a loop, of which some lanes go on with the next iteration (`continue`).
; run: continue([1, 60, 3, 20]:i32, 0:i32, 0:i32) global=4 local=4 => [1001, 60, 1003, 1120]:i32

kernel "continue" {
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
    br v30, b11, b12
  b11:
    jump b4(v23)
  b12:
    jump b2(v31)
  b2(v9: i32):
    v10: i32 = add v9, 1000
    jump b4(v10)
  b4(v15: i32):
    v16: i32 = add v12, 1
    jump b5(v16, v15)
  b7(v17: i32):
    store v17 to v5 align 4
    return
  }
}

; output: divergent_loops, boscc
; kernel "continue" {
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
;     jump b5(0, v6)
;   b5(v12: i32, v13: i32):
;     v14: i1 = icmp.slt v12, 3:i32
;     br v14, b6, b10(v13)
;   b10(v18: i32):
;     jump b7(v18)
;   b6:
;     v8: i1 = icmp.sgt v13, 9:i32
;     br v8, b13, b9
;   b9:
;     jump b2(v13)
;   b1:
;     v20: i32 = sdiv v13, v7
;     v21: i32 = sdiv v20, v7
;     v22: i32 = sdiv v21, v7
;     v23: i32 = sdiv v22, v7
;     v30: i1 = icmp.sgt v23, 49:i32
;     v31: i32 = add v23, 100
;     br v30, b11, b12
;   b11:
;     jump b4(v23)
;   b12:
;     jump b2(v31)
;   b2(v9: i32):
;     v10: i32 = add v9, 1000
;     jump b4(v10)
;   b4(v15: i32):
;     v16: i32 = add v12, 1
;     jump b5(v16, v15)
;   b7(v17: i32):
;     store v17 to v5 align 4
;     return
;   b13:
;     v33: i1 = any true
;     br v33, b1, b14
;   b14:
;     br false, b15, b16
;   b15:
;     jump b4(0)
;   b16:
;     jump b2(0)
;   }
; }
