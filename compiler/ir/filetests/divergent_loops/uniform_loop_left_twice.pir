; test: divergent_loops, linearize
; test: run
; stage: regions
; A uniform loop with two exits that no lane may enter: where its exits meet, the way past leads as well, and none of them gets a mask of
; its own.
; run: uniform_loop_left_twice([1, 3, 9, 2]:i32, 3:i32, 2:i32) global=4 local=4 => [103, 105, 9, 104]:i32
; run: uniform_loop_left_twice([1, 3, 9, 2]:i32, 3:i32, 7:i32) global=4 local=4 => [4, 6, 9, 5]:i32
; run: uniform_loop_left_twice([8, 9, 7, 6]:i32, 3:i32, 7:i32) global=4 local=4 => [8, 9, 7, 6]:i32

kernel "uniform_loop_left_twice" {
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
    v7: i1 = icmp.slt v6, 5:i32
    br v7, b1, b5
  b1:
    jump b2(0, v6)
  b2(v8: i32, v9: i32):
    v10: i1 = icmp.slt v8, v1
    br v10, b3, b4(v9)
  b3:
    v11: i32 = add v8, 1
    v12: i32 = add v9, 1
    v15: i1 = icmp.eq v11, v2
    br v15, b7(v12), b8
  b8:
    jump b2(v11, v12)
  b7(v16: i32):
    v17: i32 = add v16, 100
    jump b6(v17)
  b4(v13: i32):
    jump b6(v13)
  b5:
    jump b6(v6)
  b6(v14: i32):
    store v14 to v5 align 4
    return
  }
}

; output: divergent_loops
; kernel "uniform_loop_left_twice" {
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
;     v7: i1 = icmp.slt v6, 5:i32
;     br v7, b1, b5
;   b1:
;     v24: i1 = any true
;     br v24, b9, b10
;   b2(v8: i32, v9: i32):
;     v10: i1 = icmp.slt v8, v1
;     br v10, b3, b4(v9)
;   b3:
;     v11: i32 = add v8, 1
;     v12: i32 = add v9, 1
;     v15: i1 = icmp.eq v11, v2
;     br v15, b7(v12), b8
;   b8:
;     jump b2(v11, v12)
;   b7(v16: i32):
;     v17: i32 = add v16, 100
;     jump b6(v17)
;   b4(v13: i32):
;     jump b6(v13)
;   b5:
;     jump b6(v6)
;   b6(v14: i32):
;     store v14 to v5 align 4
;     return
;   b9:
;     jump b2(0, v6)
;   b10:
;     jump b6(0)
;   }
; }

; output: divergent_loops, linearize
; kernel "uniform_loop_left_twice" {
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
;     v7: i1 = icmp.slt v6, 5:i32
;     v26: i1 = xor v7, true
;     jump b1
;   b1 mask v7:
;     v24: i1 = any true
;     br v24, b9, b10
;   b9 mask v7:
;     jump b2(0, v6)
;   b2(v8: i32, v9: i32) mask v7:
;     v10: i1 = icmp.slt v8, v1
;     v31: i1 = any v10
;     br v31, b3, b4(v9)
;   b3 mask v7:
;     v11: i32 = add v8, 1
;     v12: i32 = add v9, 1
;     v15: i1 = icmp.eq v11, v2
;     v32: i1 = any v15
;     br v32, b7(v12), b8
;   b8 mask v7:
;     jump b2(v11, v12)
;   b7(v16: i32) mask v7:
;     v17: i32 = add v16, 100
;     v27: i32 = select v7, v17, 0
;     jump b5(v27)
;   b4(v13: i32) mask v7:
;     v28: i32 = select v7, v13, 0
;     jump b5(v28)
;   b10 mask v7:
;     jump b5(0)
;   b5(v29: i32) mask v26:
;     v30: i32 = select v26, v6, v29
;     jump b6
;   b6:
;     store v30 to v5 align 4
;     return
;   }
; }
