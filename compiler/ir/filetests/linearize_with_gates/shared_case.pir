; test: divergent_loops, boscc, linearize
; test: run
; stage: normalized
; A case of a `switch` that falls into another one: Karrenberg & Hack 2012, figure 7 left, has the same graph.
; run: shared_case([1, 2, 3, 4]:i32, 0:i32, 0:i32) global=4 local=4 => [111, 102, 3, 4]:i32
; run: shared_case([5, 6, 7, 8]:i32, 0:i32, 0:i32) global=4 local=4 => [5, 6, 7, 8]:i32

kernel "shared_case" {
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
    switch v6 [1: b1, 2: b5] default b4
  b5:
    jump b2(v6)
  b1:
    v8: i32 = add v6, 10
    jump b2(v8)
  b2(v9: i32):
    v20: i32 = sdiv v9, v7
    v21: i32 = sdiv v20, v7
    v22: i32 = sdiv v21, v7
    v23: i32 = sdiv v22, v7
    v30: i32 = add v23, 100
    jump b3(v30)
  b4:
    jump b3(v6)
  b3(v11: i32):
    store v11 to v5 align 4
    return
  }
}

; output: divergent_loops, boscc, linearize
; kernel "shared_case" {
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
;     v31: i1 = icmp.eq v6, 1:i32
;     v40: i1 = xor v31, true
;     jump b1
;   b1 mask v31:
;     v8: i32 = add v6, 10
;     v45: i32 = select v31, v8, v6
;     jump b6
;   b6 mask v40:
;     v34: i1 = icmp.eq v6, 2:i32
;     v41: i1 = and v40, v34
;     v42: i1 = xor v34, true
;     v43: i1 = and v40, v42
;     jump b5
;   b5 mask v41:
;     v44: i1 = or v31, v41
;     jump b4
;   b4 mask v43:
;     jump b7
;   b7 mask v44:
;     v37: i1 = any true
;     br v37, b2(v45), b8
;   b2(v9: i32) mask v44:
;     v20: i32 = sdiv v9, v7
;     v21: i32 = sdiv v20, v7
;     v22: i32 = sdiv v21, v7
;     v23: i32 = sdiv v22, v7
;     v30: i32 = add v23, 100
;     v46: i32 = select v44, v30, v6
;     jump b3(v46)
;   b8 mask v44:
;     v47: i32 = select v44, 0, v6
;     jump b3(v47)
;   b3(v48: i32):
;     store v48 to v5 align 4
;     return
;   }
; }
