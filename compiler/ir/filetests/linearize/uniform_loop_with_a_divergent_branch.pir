; test: divergent_loops, linearize
; test: run
; stage: normalized
; Moll 2021, figure 8.3: the edge back is left out, and put back; the loop's own branch is uniform and stays.
; run: uniform_loop_with_a_divergent_branch([1, 12, 3, 14]:i32, 3:i32, 0:i32) global=4 local=4 => [4, 42, 6, 44]:i32
; run: uniform_loop_with_a_divergent_branch([1, 12, 3, 14]:i32, 0:i32, 0:i32) global=4 local=4 => [1, 12, 3, 14]:i32

kernel "uniform_loop_with_a_divergent_branch" {
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
    jump b1(0, v6)
  b1(v7: i32, v8: i32):
    v9: i1 = icmp.slt v7, v1
    br v9, b2, b6(v8)
  b2:
    v10: i1 = icmp.slt v6, 5:i32
    br v10, b3, b4
  b3:
    v11: i32 = add v8, 1
    jump b5(v11)
  b4:
    v12: i32 = add v8, 10
    jump b5(v12)
  b5(v13: i32):
    v14: i32 = add v7, 1
    jump b1(v14, v13)
  b6(v15: i32):
    store v15 to v5 align 4
    return
  }
}

; output: divergent_loops, linearize
; kernel "uniform_loop_with_a_divergent_branch" {
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
;     jump b1(0, v6)
;   b1(v7: i32, v8: i32):
;     v9: i1 = icmp.slt v7, v1
;     br v9, b2, b6(v8)
;   b2:
;     v10: i1 = icmp.slt v6, 5:i32
;     v23: i1 = xor v10, true
;     jump b3
;   b3 mask v10:
;     v11: i32 = add v8, 1
;     jump b4
;   b4 mask v23:
;     v12: i32 = add v8, 10
;     v24: i32 = select v23, v12, v11
;     jump b5
;   b5:
;     v14: i32 = add v7, 1
;     jump b1(v14, v24)
;   b6(v15: i32):
;     store v15 to v5 align 4
;     return
;   }
; }
