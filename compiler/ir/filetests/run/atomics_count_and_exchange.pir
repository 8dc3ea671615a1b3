; test: run
; Items count in a shared cell, exchange in another, and one alone wins a compare and exchange.
; run: count([0, 100, 0, 0]:i32) global=4 local=2 => [10, 3, 1, 1]:i32

kernel "count" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.global_id 0
    v2: i32 = trunc v1
    v3: i32 = add v2, 1
    v4: i32 = atomic_rmw.add.relaxed v0, v3 align 4
    v5: ptr.global = ptradd v0, 4
    v6: i32 = atomic_rmw.xchg.relaxed v5, v2 align 4
    v7: ptr.global = ptradd v0, 8
    v8: i32, v9: i1 = atomic_cas.acq_rel.acquire v7, 0, 1 align 4
    v10: i32 = zext v9
    v11: ptr.global = ptradd v0, 12
    v12: i32 = atomic_rmw.add.seq_cst v11, v10 align 4
    return
  }
}
