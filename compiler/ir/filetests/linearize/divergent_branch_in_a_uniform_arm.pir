; test: divergent_loops, linearize
; test: run
; stage: normalized
; Moll 2021, figure 8.1: the uniform branch stays, so the slow calls in both arms of the divergent one are
; passed by.
; run: divergent_branch_in_a_uniform_arm([1, 12, 3, 14]:i32, 1:i32, 0:i32) global=4 local=4 => [10, 20, 10, 20]:i32
; run: divergent_branch_in_a_uniform_arm([1, 12, 3, 14]:i32, 0:i32, 0:i32) global=4 local=4 => [0, 0, 0, 0]:i32

kernel "divergent_branch_in_a_uniform_arm" {
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
    v7: i1 = icmp.ne v1, 0:i32
    br v7, b1, b4
  b1:
    v8: i1 = icmp.slt v6, 5:i32
    br v8, b2, b3
  b2:
    jump b5(10)
  b3:
    jump b5(20)
  b4:
    jump b6(0)
  b5(v9: i32):
    jump b6(v9)
  b6(v10: i32):
    store v10 to v5 align 4
    return
  }
}

; output: divergent_loops, linearize
; kernel "divergent_branch_in_a_uniform_arm" {
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
;     v7: i1 = icmp.ne v1, 0:i32
;     br v7, b1, b4
;   b1:
;     v8: i1 = icmp.slt v6, 5:i32
;     v18: i1 = xor v8, true
;     jump b2
;   b2 mask v8:
;     jump b3
;   b3 mask v18:
;     v19: i32 = select v18, 20, 10
;     jump b5
;   b5:
;     jump b6(v19)
;   b4:
;     jump b6(0)
;   b6(v10: i32):
;     store v10 to v5 align 4
;     return
;   }
; }
