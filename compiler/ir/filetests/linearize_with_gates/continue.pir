; test: divergent_loops, boscc, linearize
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

; output: divergent_loops, boscc, linearize
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
;   b6:
;     v8: i1 = icmp.sgt v13, 9:i32
;     v38: i1 = xor v8, true
;     jump b13
;   b13 mask v8:
;     v33: i1 = any true
;     br v33, b1, b14
;   b1 mask v8:
;     v20: i32 = sdiv v13, v7
;     v21: i32 = sdiv v20, v7
;     v22: i32 = sdiv v21, v7
;     v23: i32 = sdiv v22, v7
;     v30: i1 = icmp.sgt v23, 49:i32
;     v31: i32 = add v23, 100
;     v35: i1 = and v8, v30
;     v36: i1 = xor v30, true
;     v37: i1 = and v8, v36
;     jump b11
;   b11 mask v35:
;     jump b12
;   b12 mask v37:
;     v41: i32 = select v37, v31, 0
;     jump b9(v37, v41, v23)
;   b14 mask v8:
;     jump b15
;   b15 mask false:
;     jump b16
;   b16 mask v8:
;     jump b9(v8, 0, 0)
;   b9(v39: i1, v42: i32, v44: i32) mask v38:
;     v40: i1 = or v39, v38
;     v43: i32 = select v38, v13, v42
;     jump b2
;   b2 mask v40:
;     v10: i32 = add v43, 1000
;     v45: i32 = select v40, v10, v44
;     jump b4
;   b4:
;     v16: i32 = add v12, 1
;     jump b5(v16, v45)
;   b10(v18: i32):
;     jump b7(v18)
;   b7(v17: i32):
;     store v17 to v5 align 4
;     return
;   }
; }
