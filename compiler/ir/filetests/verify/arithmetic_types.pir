; test: verify
; Operand and result types of arithmetic, comparisons and casts.

kernel "types" {
  region r0 {
  b0:
    v0: i64 = query.global_id 0
    v1: i32 = trunc v0
    v2: f32 = sitofp v1
    v3: i32 = add v1, v0 ; error: the operand must be i32, not i64
    v4: f32 = add v2, v2 ; error: f32 is no integer type
    v5: i32 = fadd v1, v1 ; error: i32 is no float type
    v6: i32 = and.nsw v1, v1 ; error: and takes no nsw or nuw
    v7: i32 = add.nnan v1, v1 ; error: fast-math flags mean nothing for i32
    v8: i32 = select v1, v1, v1 ; error: the condition must be i1, not i32
    v9: i32 = select true, v1, v0 ; error: the operand must be i32, not i64
    v10: i32 = fma v1, v1, v1 ; error: i32 is no float type
    v11: f32 = fshl v2, v2, v2 ; error: f32 is no integer type
    v12: i32 = icmp.eq v1, v1 ; error: the result must be i1, not i32
    v13: i1 = icmp.eq v2, v2 ; error: icmp does not compare f32
    v14: i1 = icmp.eq v1, v0 ; error: the second operand must be i32, not i64
    v15: i1 = fcmp.oeq v1, v1 ; error: i32 is no float type
    v16: i1 = fcmp.oeq v2, 1.0:f64 ; error: the second operand must be f32, not f64
    v17: i64 = trunc v1 ; error: i64 is not below i32
    v18: i16 = zext v1 ; error: i16 is not above i32
    v19: f64 = fptrunc v2 ; error: f64 is not below f32
    v20: f16 = fpext v2 ; error: f16 is not above f32
    v21: i32 = fptosi v1 ; error: i32 is no float type
    v22: f32 = sitofp v2 ; error: f32 is no integer type
    v23: i64 = bitcast v2 ; error: f32 and i64 have different widths
    v24: i64 = bitcast null:ptr.global ; error: bitcast takes and gives no pointer
    v25: i64 = ptrtoint v0 ; error: i64 is no pointer type
    v26: i64 = inttoptr v0 ; error: i64 is no pointer type
    v27: i32 = spacecast null:ptr.global ; error: i32 is no pointer type
    v28: i64 = space_of null:ptr.generic ; error: the result must be i32, not i64
    v29: i24 = bswap 1 ; error: i24 has no byte pairs
    v30: f32 = popcount v2 ; error: f32 is no integer type
    v31: i32 = sqrt v1 ; error: i32 is no float type
    v32: i64 = freeze v1 ; error: the operand must be i64, not i32
    v33: i32, v34: i32 = add v1, v1 ; error: 1 results are needed, here are 2
    v35: i32 = collective.reduce.sub v1 ; error: sub of i32 is not collective
    v36: f32 = collective.inclusive.add v2 ; error: add of f32 is not collective
    v37: i32 = collective.exclusive.add v0 ; error: the operand must be i32, not i64
    v38: f32 = across.reduce.xor v2 ; error: xor of f32 is not collective
    v39: i64 = shuffle v1, 2 ; error: the operand must be i64, not i32
    v40: i32 = clock ; error: the result must be i64, not i32
    v41: f64 = recip_estimate v19 ; error: f64 is not f32
    v42: f16 = rsqrt_estimate v20 ; error: f16 is not f32 or f64
    v43: f64 = rsqrt_estimate v2 ; error: the operand must be f64, not f32
    v44: i32 = quotient_estimate v1, v1 ; error: i32 is no float type
    v45: f64 = quotient_estimate v19, v19 ; error: f64 is not f32
    v46: f64 = rsqrt_native v19 ; error: f64 is not f32
    v47: f32 = logb v2 ; error: f32 is not f64
    v48: f64 = significand v2 ; error: the operand must be f64, not f32
    v49: f16 = scaled v20, v20, v20 ; error: f16 is not f32 or f64
    v50: f64 = scaled v19, v2, v19 ; error: the operand must be f64, not f32
    v51: f32 = powered v2, v2 ; error: f32 is not f64
    v52: f64 = powered v19, v2 ; error: the operand must be f64, not f32
    return
  }
}
