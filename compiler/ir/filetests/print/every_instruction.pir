; test: print
; Each kind of instruction, literal and table once, as the printer writes it.

global g0 "table" constant align 16 constant size 8 init 0x00ff10
global g1 "counter" global align 4 size 4
global g2 "pointers" global align 8 size 16 relocs [0: g0 + 4, 8: g1 - 4]
format fmt0 "x=%d %v4f\n\x00\xff\"\\" (i32, f32 x 4)
format fmt1 "no memory for %d" (i32) failure

kernel "all" {
  args 36
  param "out" pointer.global "float*" size 8 align 8 offset 0 access "none" qualifiers "restrict" readonly restrict
  param "n" value "int" size 4 align 4 offset 8
  param "tmp" local "float*" size 8 align 128 offset 16
  param "img" image "image2d_t" size 8 align 8 offset 24 access "read_only"
  param "ä\x01" sampler "" size 4 align 4 offset 32
  reqd_work_group_size(8, 4, 1)
  work_group_size_hint(16, 1, 1)
  vec_type_hint "float4"
  reqd_sub_group_size(8)
  attributes "reqd_work_group_size(8,4,1)"
  input value(0, 0): ptr.global
  input value(1, 0): i32
  input value(2, 0): ptr.local
  input address(1): ptr.private
  slot ss0 size 16 align 4
  local lv0 size 64 align 16
  live ls0: f32
  region r0 {
  b0(v0: ptr.global, v1: i32, v2: ptr.local, v3: ptr.private):
    v4: i64 = query.global_id 0 @3:7
    v5: i32 = trunc v4
    v6: i32 = add.nsw v5, -1
    v7: i32 = mul.nsw.nuw v6, v6
    v8: i1 = icmp.slt v7, 5:i32
    v9: f32 = sitofp v7
    v10: f32 = fadd.nnan.contract v9, 0.1
    v11: f32 = fneg v10
    v12: f32 = fma v9, 1.0, -inf
    v13: f64 = fpext v12
    v14: f64 = fmul.reassoc.nnan.ninf.nsz.arcp.contract.afn v13, 1e-300
    v15: f64 = fadd v14, 0x7ff8000000000000
    v16: f16 = fptrunc v12
    v17: f16 = fmul v16, 0.5
    v18: f16 = fadd v17, 0x7e01
    v19: i1 = fcmp.uno.ninf v12, v11
    v20: i1 = and v19, true
    v21: i32 = select v20, 7, v1
    v22: ptr.global = ptradd.inbounds v0, 4
    v23: ptr.global = ptradd v22, v4
    v24: f32, v25: f32 = load v23 + 8 align 4
    v26: i32 = load.volatile.acquire v23 - 8 align 4
    store v24, v25, 1.5:f32 to v23 align 4
    store.seq_cst 3:i32 to v23 - 9223372036854775808 align 4
    memcpy v23, v22, 16
    memmove.volatile v23, v22, v4
    memset v23, -1, 16
    v27: i32 = atomic_rmw.umax.relaxed v23, 1 align 4
    v28: i32, v29: i1 = atomic_cas.acq_rel.acquire v23, 0, v27 align 4
    fence.seq_cst
    v30: i32 = query.work_dim 0
    v31: ptr.private = slot_addr ss0
    v32: ptr.local = local_addr lv0
    v33: ptr.constant = global_addr g0
    barrier
    v42: i64 = collective.exclusive.smin v4
    v43: i32 = collective.reduce.umax 7
    v44: i64 = query.linear_id 0
    v45: i32 = across.inclusive.add v6
    v46: i32 = across.reduce.umin.of4 v6
    v47: i32 = shuffle v6, v44
    v48: i64 = ballot v8
    gang_barrier
    v49: i64 = clock
    v34: f64 = call_host "sin"(v15)
    v35: i32 = printf fmt0(v1, v24, v25, v10, 0.0:f32)
    v36: i1 = icmp.eq v0, null:ptr.global
    v37: i128 = zext v4
    v38: i128 = fshl v37, 170141183460469231731687303715884105727, -170141183460469231731687303715884105728
    v39: i32 = space_of v33
    br v36, b1(v21, 4), b3
  b1(v40: i32, v41: i32):
    switch v40 [0: b2, -1: b3, 7: b1(v41, v40)] default b4
  b2:
    jump b3
  b3:
    return
  b4:
    unreachable
  }
}

kernel "after_barriers" {
  live ls0: f32
  live ls1: i32
  region r0 {
  b0:
    live_store ls0, 1.0:f32
    exit r1
  }
  region r1 {
  b0:
    v0: f32 = live_load ls0
    live_store ls0, v0
    exit r2
  }
  region r2 combines reduce.fmin ls0 {
  b0:
    v0: f32 = combined
    return
  }
}
