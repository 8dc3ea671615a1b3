; test: divergent_loops, boscc
; test: run
; stage: normalized
; Moll 2021, figures 9.4 and 9.6: each case of a cascade is costly, and so is what is left of it.
; run: cascade([1, 12, 60, 140]:i32, 0:i32, 0:i32) global=4 local=4 => [1, 2012, 1060, 140]:i32
; run: cascade([101, 102, 103, 104]:i32, 0:i32, 0:i32) global=4 local=4 => [101, 102, 103, 104]:i32
; run: cascade([1, 2, 50, 4]:i32, 0:i32, 0:i32) global=4 local=4 => [1, 2, 1050, 4]:i32

kernel "cascade" {
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
    v8: i1 = icmp.sgt v6, 99:i32
    br v8, b1, b2
  b1:
    v20: i32 = sdiv v6, v7
    v21: i32 = sdiv v20, v7
    v22: i32 = sdiv v21, v7
    v23: i32 = sdiv v22, v7
    jump b7(v23)
  b2:
    v9: i1 = icmp.sgt v6, 49:i32
    br v9, b3, b4
  b3:
    v30: i32 = sdiv v6, v7
    v31: i32 = sdiv v30, v7
    v32: i32 = sdiv v31, v7
    v33: i32 = sdiv v32, v7
    v50: i32 = add v33, 1000
    jump b8(v50)
  b4:
    v10: i1 = icmp.sgt v6, 9:i32
    br v10, b5, b6
  b5:
    v40: i32 = sdiv v6, v7
    v41: i32 = sdiv v40, v7
    v42: i32 = sdiv v41, v7
    v43: i32 = sdiv v42, v7
    v51: i32 = add v43, 2000
    jump b9(v51)
  b6:
    jump b9(v6)
  b9(v11: i32):
    jump b8(v11)
  b8(v12: i32):
    jump b7(v12)
  b7(v13: i32):
    store v13 to v5 align 4
    return
  }
}

; output: divergent_loops, boscc
; kernel "cascade" {
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
;     v8: i1 = icmp.sgt v6, 99:i32
;     br v8, b10, b12
;   b1:
;     v20: i32 = sdiv v6, v7
;     v21: i32 = sdiv v20, v7
;     v22: i32 = sdiv v21, v7
;     v23: i32 = sdiv v22, v7
;     jump b7(v23)
;   b2:
;     v9: i1 = icmp.sgt v6, 49:i32
;     br v9, b14, b16
;   b3:
;     v30: i32 = sdiv v6, v7
;     v31: i32 = sdiv v30, v7
;     v32: i32 = sdiv v31, v7
;     v33: i32 = sdiv v32, v7
;     v50: i32 = add v33, 1000
;     jump b8(v50)
;   b4:
;     v10: i1 = icmp.sgt v6, 9:i32
;     br v10, b18, b6
;   b5:
;     v40: i32 = sdiv v6, v7
;     v41: i32 = sdiv v40, v7
;     v42: i32 = sdiv v41, v7
;     v43: i32 = sdiv v42, v7
;     v51: i32 = add v43, 2000
;     jump b9(v51)
;   b6:
;     jump b9(v6)
;   b9(v11: i32):
;     jump b8(v11)
;   b8(v12: i32):
;     jump b7(v12)
;   b7(v13: i32):
;     store v13 to v5 align 4
;     return
;   b10:
;     v53: i1 = any true
;     br v53, b1, b11
;   b11:
;     jump b7(0)
;   b12:
;     v55: i1 = any true
;     br v55, b2, b13
;   b13:
;     jump b7(0)
;   b14:
;     v56: i1 = any true
;     br v56, b3, b15
;   b15:
;     jump b8(0)
;   b16:
;     v57: i1 = any true
;     br v57, b4, b17
;   b17:
;     jump b8(0)
;   b18:
;     v58: i1 = any true
;     br v58, b5, b19
;   b19:
;     jump b9(0)
;   }
; }
