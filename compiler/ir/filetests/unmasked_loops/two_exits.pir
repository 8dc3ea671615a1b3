; test: coherence_versions
; passes: -all,unmasked_loops=always
; test: versions
; test: run
; stage: normalized
; What is stored before the first exit must not be stored twice, so the rest of the iteration has a copy; the second exit
; is the same for all lanes and stays one.
; run: two_exits([1, 3, 9, 2]:i32, 3:i32, 0:i32) global=4 local=4 => [100, 102, 3, 101]:i32

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
    jump b1(0)
  b1(v7: i32): ; version: b1 rest b2 b5, saves 11 of 16
    store v7 to v5 align 4
    v8: i32 = add v7, 1
    v9: i1 = icmp.eq v8, v6
    br v9, b3(v7), b2 ; copies: then none, else none
  b2:
    v10: i1 = icmp.sge v8, v1
    br v10, b4(v8), b5
  b5:
    jump b1(v8)
  b3(v12: i32):
    v13: i32 = add v12, 100
    jump b6(v13)
  b4(v14: i32):
    jump b6(v14)
  b6(v15: i32):
    store v15 to v5 align 4
    return
  }
}

; output: coherence_versions
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
;     jump b7(0)
;   b1(v7: i32):
;     store v7 to v5 align 4
;     v8: i32 = add v7, 1
;     v9: i1 = icmp.eq v8, v6
;     br v9, b13(v7), b2
;   b2:
;     v10: i1 = icmp.sge v8, v1
;     br v10, b14(v8), b5
;   b5:
;     jump b1(v8)
;   b3(v12: i32):
;     v13: i32 = add v12, 100
;     jump b6(v13)
;   b4(v14: i32):
;     jump b6(v14)
;   b6(v15: i32):
;     store v15 to v5 align 4
;     return
;   b7(v19: i32):
;     store v19 to v5 align 4
;     v20: i32 = add v19, 1
;     v21: i1 = icmp.eq v20, v6
;     v25: i1 = any v21
;     br v25, b10(v21, v20, v19), b8
;   b8:
;     v22: i1 = icmp.sge v20, v1
;     br v22, b15(v20), b9
;   b9:
;     jump b7(v20)
;   b10(v28: i1, v29: i32, v31: i32):
;     br v28, b16, b11
;   b11:
;     v23: i1 = icmp.sge v29, v1
;     br v23, b17, b12
;   b12:
;     jump b1(v29)
;   b13(v26: i32):
;     jump b3(v26)
;   b14(v27: i32):
;     jump b4(v27)
;   b15(v30: i32):
;     jump b4(v30)
;   b16:
;     jump b3(v31)
;   b17:
;     jump b4(v29)
;   }
; }
