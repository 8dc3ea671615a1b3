; test: divergent_loops, boscc, linearize
; test: run
; stage: normalized
; Moll 2021, figure 9.5c: the gate's branch is uniform in relation to the arm and stays.
; run: costly_arm([1, 12, 3, 14]:i32, 0:i32, 0:i32) global=4 local=4 => [1, 112, 3, 114]:i32
; run: costly_arm([1, 2, 3, 4]:i32, 0:i32, 0:i32) global=4 local=4 => [1, 2, 3, 4]:i32

kernel "costly_arm" {
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
    br v8, b1, b2
  b1:
    v20: i32 = sdiv v6, v7
    v21: i32 = sdiv v20, v7
    v22: i32 = sdiv v21, v7
    v23: i32 = sdiv v22, v7
    v30: i32 = add v23, 100
    jump b3(v30)
  b2:
    jump b3(v6)
  b3(v9: i32):
    store v9 to v5 align 4
    return
  }
}

; output: divergent_loops, boscc, linearize
; kernel "costly_arm" {
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
;     v35: i1 = xor v8, true
;     jump b4
;   b4 mask v8:
;     v32: i1 = any true
;     br v32, b1, b5
;   b1 mask v8:
;     v20: i32 = sdiv v6, v7
;     v21: i32 = sdiv v20, v7
;     v22: i32 = sdiv v21, v7
;     v23: i32 = sdiv v22, v7
;     v30: i32 = add v23, 100
;     v36: i32 = select v8, v30, 0
;     jump b2(v36)
;   b5 mask v8:
;     jump b2(0)
;   b2(v37: i32) mask v35:
;     v38: i32 = select v35, v6, v37
;     jump b3
;   b3:
;     store v38 to v5 align 4
;     return
;   }
; }
