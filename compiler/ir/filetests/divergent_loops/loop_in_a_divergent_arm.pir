; test: divergent_loops
; test: run
; stage: normalized
; A uniform loop that no lane may enter: a gate leads past it, then.
; run: loop_in_a_divergent_arm([1, 3, 9, 2]:i32, 3:i32, 0:i32) global=4 local=4 => [4, 6, 9, 5]:i32

kernel "loop_in_a_divergent_arm" {
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
    jump b2(v11, v12)
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
; kernel "loop_in_a_divergent_arm" {
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
;     v20: i1 = any true
;     br v20, b7, b8
;   b2(v8: i32, v9: i32):
;     v10: i1 = icmp.slt v8, v1
;     br v10, b3, b4(v9)
;   b3:
;     v11: i32 = add v8, 1
;     v12: i32 = add v9, 1
;     jump b2(v11, v12)
;   b4(v13: i32):
;     jump b6(v13)
;   b5:
;     jump b6(v6)
;   b6(v14: i32):
;     store v14 to v5 align 4
;     return
;   b7:
;     jump b2(0, v6)
;   b8:
;     jump b4(0)
;   }
; }
