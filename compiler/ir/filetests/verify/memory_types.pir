; test: verify
; Addresses, accesses, atomics and queries.

global g0 "g" global align 4 size 4
format fmt0 "%d %v2f" (i32, f32 x 2)

kernel "memory" {
  args 8
  param "p" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  slot ss0 size 4 align 4
  local lv0 size 4 align 4
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = ptradd v0, 4 ; error: i64 is no pointer type
    v2: ptr.local = ptradd v0, 4 ; error: the base must be ptr.local, not ptr.global
    v3: ptr.global = ptradd v0, 4:i32 ; error: the offset must be i64, not i32
    v4: i32 = load 8:i64 align 4 ; error: i64 is no pointer type
    load v0 align 4 ; error: a load has at least one result
    v5: i32, v6: f32 = load v0 align 4 ; error: every element must be i32, not f32
    v7: i32 = load v0 align 5 ; error: alignment 5 is no power of two
    v8: i32 = load.release v0 align 4 ; error: a load does not release
    v9: i32, v10: i32 = load.acquire v0 align 4 ; error: an atomic access has one element
    v11: i32 = load.relaxed v0 align 2 ; error: an atomic i32 needs alignment 4
    v12: i32 = store 1:i32 to v0 align 4 ; error: 0 results are needed, here are 1
    store 1:i32 to 4:i64 align 4 ; error: i64 is no pointer type
    store 1:i32, 1:i64 to v0 align 4 ; error: every element must be i32, not i64
    store.acquire 1:i32 to v0 align 4 ; error: a store does not acquire
    memcpy v0, 1:i64, 4 ; error: i64 is no pointer type
    memcpy v0, v0, 4:i32 ; error: the length must be i64, not i32
    memset v0, 1:i32, 4 ; error: the byte must be i8, not i32
    v13: i32 = atomic_rmw.add.relaxed v0, 1:i64 align 4 ; error: the operand must be i32, not i64
    v14: f32 = atomic_rmw.add.relaxed v0, 1.0 align 4 ; error: f32 is no integer type
    v15: i32 = atomic_rmw.fadd.relaxed v0, 1 align 4 ; error: i32 is no float type
    v16: i64 = atomic_rmw.add.relaxed v0, 1 align 4 ; error: an atomic i64 needs alignment 8
    v17: i32, v18: i32 = atomic_cas.relaxed.relaxed v0, 1, 1 align 4 ; error: the second result must be i1, not i32
    v19: f32, v20: i1 = atomic_cas.relaxed.relaxed v0, 1.0, 1.0 align 4 ; error: atomic_cas does not compare f32
    v21: i32, v22: i1 = atomic_cas.relaxed.relaxed v0, 1:i64, 1 align 4 ; error: the expected value must be i32, not i64
    v23: i32, v24: i1 = atomic_cas.relaxed.relaxed v0, 1, 1:i64 align 4 ; error: the new value must be i32, not i64
    v25: i32, v26: i1 = atomic_cas.acq_rel.acq_rel v0, 1, 1 align 4 ; error: a failure stores nothing and so cannot release
    fence.relaxed ; error: a relaxed fence orders nothing
    v27: i64 = query.global_id 3 ; error: there is no dimension 3
    v28: i32 = query.global_id 0 ; error: the result must be i64, not i32
    v29: i32 = query.work_dim 1 ; error: work_dim has no dimension but 0
    v80: i64 = query.linear_id 1 ; error: linear_id has no dimension but 0
    v30: i64 = query.work_dim 0 ; error: the result must be i32, not i64
    v31: ptr.global = slot_addr ss0 ; error: the result must be ptr.private, not ptr.global
    v32: ptr.global = local_addr lv0 ; error: the result must be ptr.local, not ptr.global
    v33: ptr.local = global_addr g0 ; error: the result must be ptr.global, not ptr.local
    v34: i32 = barrier ; error: 0 results are needed, here are 1
    v35: f64 = call_host "sin"(v0) ; error: a host function takes and gives no pointers
    v36: i64 = printf fmt0(1:i32, 1.0:f32, 1.0:f32) ; error: the result must be i32, not i64
    v37: i32 = printf fmt0(1:i32, 1.0:f32) ; error: the format takes 3 operands
    v38: i32 = printf fmt0(1:i32, 1:i32, 1.0:f32) ; error: the operand must be f32, not i32
    return
  }
}
