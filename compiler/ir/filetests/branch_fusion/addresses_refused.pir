; test: branch_fusion
; test: fusions
; test: run
; stage: normalized
; Nothing is alike but accesses side by side, each side's to other elements: the branch stays.
; run: addresses_refused([1, 8, 3, 16]:i32, [2, 2, 6, 4]:i32, 2:i32) global=4 local=4 => [3, 10, 7, 18]:i32, _

kernel "addresses_refused" {
  args 24
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "y" pointer.global "int*" size 8 align 8 offset 8
  param "u" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl.nsw.nuw v3, 2
    v5: ptr.global = ptradd.inbounds v0, v4
    v6: i32 = load v5 align 4
    v7: ptr.global = ptradd.inbounds v1, v4
    v8: i32 = load v7 align 4
    v9: i1 = icmp.slt v6, v8
    br v9, b1, b2 ; fusion: it would save 0 of 14
  b1:
    v10: ptr.global = ptradd.inbounds v0, v4
    v11: i32 = load v10 align 4
    store v11 to v7 align 4
    v12: i32 = add v11, v11
    v13: i32 = add v12, 1
    jump b3(v13)
  b2:
    v14: ptr.global = ptradd.inbounds v1, v4
    v15: i32 = load v14 align 4
    store v15 to v5 align 4
    v16: i32 = add v6, v2
    jump b3(v16)
  b3(v17: i32):
    store v17 to v5 align 4
    return
  }
}

; output: branch_fusion
; kernel "addresses_refused" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "y" pointer.global "int*" size 8 align 8 offset 8
;   param "u" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.global
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.global, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl.nsw.nuw v3, 2
;     v5: ptr.global = ptradd.inbounds v0, v4
;     v6: i32 = load v5 align 4
;     v7: ptr.global = ptradd.inbounds v1, v4
;     v8: i32 = load v7 align 4
;     v9: i1 = icmp.slt v6, v8
;     br v9, b1, b2
;   b1:
;     v10: ptr.global = ptradd.inbounds v0, v4
;     v11: i32 = load v10 align 4
;     store v11 to v7 align 4
;     v12: i32 = add v11, v11
;     v13: i32 = add v12, 1
;     jump b3(v13)
;   b2:
;     v14: ptr.global = ptradd.inbounds v1, v4
;     v15: i32 = load v14 align 4
;     store v15 to v5 align 4
;     v16: i32 = add v6, v2
;     jump b3(v16)
;   b3(v17: i32):
;     store v17 to v5 align 4
;     return
;   }
; }
