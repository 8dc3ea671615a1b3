; test: branch_fusion
; test: fusions
; test: run
; stage: normalized
; Coutinho et al. 2011, Figure 17: both sides compare and store alike. Their blocks are merged pair by pair.
; run: chain_of_blocks([4, 3, 2, 1]:i32, [1, 2, 3, 4]:i32, 2:i32) global=4 local=4 => [4, 3, 2, 1]:i32, [4, 3, 2, 1]:i32

kernel "chain_of_blocks" {
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
    v9: i64 = sext v6
    v10: i64 = shl.nsw v9, 2
    v11: i64 = sub v10, 4
    v12: ptr.global = ptradd.inbounds v1, v11
    v14: i32 = and v6, v2
    v15: i1 = icmp.eq v14, 0:i32
    v16: i32 = sub 5:i32, v6
    br v15, b1, b2 ; fusion: 4 of 5 and 5 instructions, profit 202
  b1:
    v17: i1 = icmp.sgt v16, v6
    br v17, b3, b4 ; fusion: 2 of 2 and 2 instructions, profit 100
  b3:
    store v16 to v12 align 4
    store v6 to v5 align 4
    jump b7
  b4:
    store v16 to v12 align 4
    store v6 to v5 align 4
    jump b7
  b2:
    v18: i1 = icmp.slt v16, v6
    br v18, b5, b6 ; fusion: 2 of 2 and 2 instructions, profit 100
  b5:
    store v16 to v12 align 4
    store v6 to v5 align 4
    jump b7
  b6:
    store v16 to v12 align 4
    store v6 to v5 align 4
    jump b7
  b7:
    return
  }
}

; output: branch_fusion
; kernel "chain_of_blocks" {
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
;     v9: i64 = sext v6
;     v10: i64 = shl.nsw v9, 2
;     v11: i64 = sub v10, 4
;     v12: ptr.global = ptradd.inbounds v1, v11
;     v14: i32 = and v6, v2
;     v15: i1 = icmp.eq v14, 0:i32
;     v16: i32 = sub 5, v6
;     v22: i1 = icmp.sgt v16, v6
;     v23: i1 = icmp.slt v16, v6
;     v24: i1 = select v15, v22, v23
;     store v16 to v12 align 4
;     store v6 to v5 align 4
;     jump b7
;   b7:
;     return
;   }
; }
