; test: barriers
; test: regions
; test: run
; Two barriers in the inner and one in the outer loop.
; run: nested_loops([10, 20]:i32, local(8), 1:i32) global=2 local=2 => [1, 1]:i32

kernel "nested_loops" { ; regions: 4 ; live: i32 i32 i32 i32
  args 24
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "tmp" local "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.local
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: ptr.local, v2: i32):
    v3: i64 = query.local_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: ptr.local = ptradd v1, v4
    v7: i64 = query.local_size 0
    v8: i64 = sub v7, 1
    v9: i64 = sub v8, v3
    v10: i64 = shl v9, 2
    v11: ptr.local = ptradd v1, v10
    store 0:i32 to v6 align 4
    jump b1(0, 0)
  b1(v12: i32, v13: i32):
    v14: i1 = icmp.slt v12, v2
    br v14, b2(0, v13), b6
  b2(v15: i32, v16: i32):
    v17: i1 = icmp.sle v15, v12
    br v17, b3, b4
  b3:
    v18: i32 = load v6 align 4
    v19: i32 = add v18, 1
    store v19 to v6 align 4
    barrier
    v20: i32 = load v11 align 4
    barrier
    v21: i32 = add v16, v20
    v22: i32 = add v15, 1
    jump b5(v22, v21)
  b4:
    v23: i32 = load v5 align 4
    store v23 to v6 align 4
    barrier
    v24: i32 = add v12, 1
    jump b1(v24, v16)
  b5(v25: i32, v26: i32):
    jump b2(v25, v26)
  b6:
    store v13 to v5 align 4
    return
  }
}

; output: barriers
; kernel "nested_loops" {
;   args 24
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "tmp" local "int*" size 8 align 8 offset 8
;   param "n" value "int" size 4 align 4 offset 16
;   input value(0, 0): ptr.global
;   input value(1, 0): ptr.local
;   input value(2, 0): i32
;   live ls0: i32
;   live ls1: i32
;   live ls2: i32
;   live ls3: i32
;   region r0 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v3: i64 = query.local_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: ptr.local = ptradd v1, v4
;     v7: i64 = query.local_size 0
;     v8: i64 = sub v7, 1
;     v9: i64 = sub v8, v3
;     v10: i64 = shl v9, 2
;     v11: ptr.local = ptradd v1, v10
;     store 0:i32 to v6 align 4
;     jump b1(0, 0)
;   b1(v12: i32, v13: i32):
;     v14: i1 = icmp.slt v12, v2
;     br v14, b2(0, v13), b5
;   b2(v15: i32, v16: i32):
;     v17: i1 = icmp.sle v15, v12
;     br v17, b3, b4
;   b3:
;     v18: i32 = load v6 align 4
;     v19: i32 = add v18, 1
;     store v19 to v6 align 4
;     live_store ls0, v12
;     live_store ls1, v15
;     live_store ls2, v16
;     exit r1
;   b4:
;     v20: i32 = load v5 align 4
;     store v20 to v6 align 4
;     live_store ls0, v12
;     live_store ls2, v16
;     exit r3
;   b5:
;     store v13 to v5 align 4
;     return
;   }
;   region r1 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v7: i64 = query.local_id 0
;     v4: i64 = query.local_size 0
;     v6: i64 = sub v4, 1
;     v8: i64 = sub v6, v7
;     v10: i64 = shl v8, 2
;     v11: ptr.local = ptradd v1, v10
;     v3: i32 = load v11 align 4
;     live_store ls3, v3
;     exit r2
;   }
;   region r2 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v14: i32 = live_load ls3
;     v13: i32 = live_load ls2
;     v3: i32 = add v13, v14
;     v15: i32 = live_load ls1
;     v4: i32 = add v15, 1
;     jump b3(v4, v3)
;   b1(v5: i32, v6: i32):
;     v17: i32 = live_load ls0
;     v7: i1 = icmp.sle v5, v17
;     v18: i64 = query.local_id 0
;     v20: i64 = shl v18, 2
;     v21: ptr.local = ptradd v1, v20
;     br v7, b2, b4
;   b2:
;     v8: i32 = load v21 align 4
;     v9: i32 = add v8, 1
;     store v9 to v21 align 4
;     live_store ls1, v5
;     live_store ls2, v6
;     exit r1
;   b3(v10: i32, v11: i32):
;     jump b1(v10, v11)
;   b4:
;     v22: ptr.global = ptradd v0, v20
;     v12: i32 = load v22 align 4
;     store v12 to v21 align 4
;     live_store ls2, v6
;     exit r3
;   }
;   region r3 {
;   b0(v0: ptr.global, v1: ptr.local, v2: i32):
;     v13: i32 = live_load ls0
;     v3: i32 = add v13, 1
;     v15: i32 = live_load ls2
;     jump b1(v3, v15)
;   b1(v4: i32, v5: i32):
;     v6: i1 = icmp.slt v4, v2
;     v17: i64 = query.local_id 0
;     v19: i64 = shl v17, 2
;     v21: ptr.global = ptradd v0, v19
;     br v6, b2(0, v5), b5
;   b2(v7: i32, v8: i32):
;     v9: i1 = icmp.sle v7, v4
;     v20: ptr.local = ptradd v1, v19
;     br v9, b3, b4
;   b3:
;     v10: i32 = load v20 align 4
;     v11: i32 = add v10, 1
;     store v11 to v20 align 4
;     live_store ls0, v4
;     live_store ls1, v7
;     live_store ls2, v8
;     exit r1
;   b4:
;     v12: i32 = load v21 align 4
;     store v12 to v20 align 4
;     live_store ls0, v4
;     live_store ls2, v8
;     exit r3
;   b5:
;     store v5 to v21 align 4
;     return
;   }
; }
