; test: divergent_loops, boscc, linearize
; test: run
; stage: normalized
; What `||` makes: an arm with two ways in, behind one gate for both.
; run: two_entries([1, 12, 3, -8]:i32, 0:i32, 0:i32) global=4 local=4 => [1, 112, 3, 92]:i32
; run: two_entries([1, 2, 3, 4]:i32, 0:i32, 0:i32) global=4 local=4 => [1, 2, 3, 4]:i32

kernel "two_entries" {
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
    br v8, b5, b2
  b5:
    jump b1
  b2:
    v9: i1 = icmp.slt v6, 0:i32
    br v9, b6, b4
  b6:
    jump b1
  b4:
    jump b3(v6)
  b1:
    v20: i32 = sdiv v6, v7
    v21: i32 = sdiv v20, v7
    v22: i32 = sdiv v21, v7
    v23: i32 = sdiv v22, v7
    v30: i32 = add v23, 100
    jump b3(v30)
  b3(v11: i32):
    store v11 to v5 align 4
    return
  }
}

; output: divergent_loops, boscc, linearize
; kernel "two_entries" {
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
;     v34: i1 = xor v8, true
;     jump b5
;   b5 mask v8:
;     jump b2
;   b2 mask v34:
;     v9: i1 = icmp.slt v6, 0:i32
;     v35: i1 = and v34, v9
;     v36: i1 = xor v9, true
;     v37: i1 = and v34, v36
;     jump b6
;   b6 mask v35:
;     v38: i1 = or v8, v35
;     jump b4
;   b4 mask v37:
;     jump b7
;   b7 mask v38:
;     v32: i1 = any true
;     br v32, b1, b8
;   b1 mask v38:
;     v20: i32 = sdiv v6, v7
;     v21: i32 = sdiv v20, v7
;     v22: i32 = sdiv v21, v7
;     v23: i32 = sdiv v22, v7
;     v30: i32 = add v23, 100
;     v39: i32 = select v38, v30, v6
;     jump b3(v39)
;   b8 mask v38:
;     v40: i32 = select v38, 0, v6
;     jump b3(v40)
;   b3(v41: i32):
;     store v41 to v5 align 4
;     return
;   }
; }
