; test: divergent_loops, boscc, linearize
; test: run
; stage: normalized
; Moll 2021, figure 9.4: an arm that ends early for some of its lanes (`return`, or `continue` before what follows) leads to two blocks.
; run: two_exits([1, 60, 3, 20]:i32, 0:i32, 0:i32) global=4 local=4 => [1001, 60, 1003, 1120]:i32
; run: two_exits([1, 2, 3, 4]:i32, 0:i32, 0:i32) global=4 local=4 => [1001, 1002, 1003, 1004]:i32

kernel "two_exits" {
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
    v8: i1 = icmp.sgt v6, 9:i32
    br v8, b1, b4
  b4:
    jump b2(v6)
  b1:
    v20: i32 = sdiv v6, v7
    v21: i32 = sdiv v20, v7
    v22: i32 = sdiv v21, v7
    v23: i32 = sdiv v22, v7
    v30: i1 = icmp.sgt v23, 49:i32
    v31: i32 = add v23, 100
    br v30, b5, b6
  b5:
    jump b3(v6)
  b6:
    jump b2(v31)
  b2(v9: i32):
    v10: i32 = add v9, 1000
    jump b3(v10)
  b3(v11: i32):
    store v11 to v5 align 4
    return
  }
}

; output: divergent_loops, boscc, linearize
; kernel "two_exits" {
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
;     v8: i1 = icmp.sgt v6, 9:i32
;     v39: i1 = xor v8, true
;     jump b7
;   b7 mask v8:
;     v33: i1 = any true
;     br v33, b1, b8
;   b1 mask v8:
;     v20: i32 = sdiv v6, v7
;     v21: i32 = sdiv v20, v7
;     v22: i32 = sdiv v21, v7
;     v23: i32 = sdiv v22, v7
;     v30: i1 = icmp.sgt v23, 49:i32
;     v31: i32 = add v23, 100
;     v36: i1 = and v8, v30
;     v37: i1 = xor v30, true
;     v38: i1 = and v8, v37
;     jump b5
;   b5 mask v36:
;     jump b6
;   b6 mask v38:
;     v42: i32 = select v38, v31, 0
;     jump b4(v38, v42)
;   b8 mask v8:
;     jump b9
;   b9 mask false:
;     jump b10
;   b10 mask v8:
;     jump b4(v8, 0)
;   b4(v40: i1, v43: i32) mask v39:
;     v41: i1 = or v40, v39
;     v44: i32 = select v39, v6, v43
;     jump b2
;   b2 mask v41:
;     v10: i32 = add v44, 1000
;     v45: i32 = select v41, v10, v6
;     jump b3
;   b3:
;     store v45 to v5 align 4
;     return
;   }
; }
