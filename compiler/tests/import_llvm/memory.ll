; Memory: address arithmetic, private variables, copies and fills, atomics, program-scope variables.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

%cell = type { i8, [3 x { i16, i64 }], i32 }
%record = type { i8, i32, <3 x i16>, half, double, [2 x i24], ptr addrspace(2), i128 }

@table = internal addrspace(2) constant [4 x i32] [i32 10, i32 -20, i32 30, i32 -40], align 4
@text = private unnamed_addr addrspace(2) constant [6 x i8] c"hello\00", align 1
@records = internal addrspace(2) constant [2 x %record] [
  %record { i8 -3, i32 77, <3 x i16> <i16 1, i16 -2, i16 3>, half 0xH3E00, double -1.25, [2 x i24] [i24 -5, i24 123456], ptr addrspace(2) getelementptr (i8, ptr addrspace(2) @table, i64 8), i128 -170141183460469231731687303715884105000 },
  %record { i8 undef, i32 1, <3 x i16> undef, half undef, double 0.0, [2 x i24] zeroinitializer, ptr addrspace(2) @text, i128 5 }
], align 16
@scalars = internal addrspace(2) constant { float, <4 x float>, i16, <2 x i64> } { float 1.5, <4 x float> <float 0.5, float -0.0, float 0x7FF0000000000000, float 0x7FF8000000000000>, i16 -1, <2 x i64> <i64 -1, i64 1> }, align 32
@distance = internal addrspace(2) constant i64 sub (i64 ptrtoint (ptr addrspace(2) getelementptr (i32, ptr addrspace(2) @table, i64 3) to i64), i64 ptrtoint (ptr addrspace(2) @table to i64)), align 8
@variable = internal addrspace(1) global [4 x i32] [i32 1, i32 2, i32 3, i32 4], align 16
@address = internal addrspace(1) global ptr addrspace(1) getelementptr inbounds ([4 x i32], ptr addrspace(1) @variable, i64 0, i64 2), align 8
@loop_a = internal addrspace(1) global ptr addrspace(1) @loop_b, align 8
@loop_b = internal addrspace(1) global ptr addrspace(1) @loop_a, align 8
@scratch = internal addrspace(3) global [8 x i32] undef, align 4
@other = internal alias [4 x i32], ptr addrspace(2) @table

declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)
declare void @llvm.memcpy.p1.p0.i64(ptr addrspace(1), ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memset.p1.i64(ptr addrspace(1), i8, i64, i1)
declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)

define spir_kernel void @address_steps(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %x = load i32, ptr addrspace(1) %in, align 4
  %i = and i32 %x, 1
  %j = urem i32 %x, 3
  %narrow = trunc i32 %j to i8
  %wide = zext i32 %i to i128
  %p = getelementptr inbounds %cell, ptr addrspace(1) %out, i128 %wide, i32 1, i8 %narrow, i32 1
  store i64 81985529216486895, ptr addrspace(1) %p, align 1
  %q = getelementptr %cell, ptr addrspace(1) %p, i64 -1
  %r = getelementptr %cell, ptr addrspace(1) %q, i64 1, i32 2
  store i32 %x, ptr addrspace(1) %r, align 1
  ret void
}

define spir_kernel void @negative_indices(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %x = load i32, ptr addrspace(1) %in, align 4
  %i = and i32 %x, 7
  %n = sub i32 0, %i
  %end = getelementptr i8, ptr addrspace(1) %out, i64 32
  %p = getelementptr inbounds i32, ptr addrspace(1) %end, i32 %n
  store i32 %x, ptr addrspace(1) %p, align 4
  ret void
}

define spir_kernel void @vector_of_addresses(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %v = load <2 x i32>, ptr addrspace(1) %in, align 8
  %i = and <2 x i32> %v, <i32 3, i32 3>
  %p = getelementptr i16, ptr addrspace(1) %in, <2 x i32> %i
  %a = extractelement <2 x ptr addrspace(1)> %p, i32 0
  %b = extractelement <2 x ptr addrspace(1)> %p, i32 1
  %x = load i16, ptr addrspace(1) %a, align 2
  %y = load i16, ptr addrspace(1) %b, align 2
  store i16 %x, ptr addrspace(1) %out, align 2
  %q = getelementptr i8, ptr addrspace(1) %out, i64 2
  store i16 %y, ptr addrspace(1) %q, align 2
  %d = ptrtoint <2 x ptr addrspace(1)> %p to <2 x i64>
  %d0 = extractelement <2 x i64> %d, i32 0
  %d1 = extractelement <2 x i64> %d, i32 1
  %difference = sub i64 %d0, %d1
  %r = getelementptr i8, ptr addrspace(1) %out, i64 8
  store i64 %difference, ptr addrspace(1) %r, align 8
  ret void
}

define spir_kernel void @addresses_as_integers(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %a = ptrtoint ptr addrspace(1) %in to i64
  %b = add i64 %a, 12
  %p = inttoptr i64 %b to ptr addrspace(1)
  %x = load i32, ptr addrspace(1) %p, align 4
  store i32 %x, ptr addrspace(1) %out, align 4
  %g = addrspacecast ptr addrspace(1) %p to ptr addrspace(4)
  %h = getelementptr i8, ptr addrspace(4) %g, i64 4
  %y = load i32, ptr addrspace(4) %h, align 4
  %q = getelementptr i8, ptr addrspace(1) %out, i64 4
  store i32 %y, ptr addrspace(1) %q, align 4
  %same = icmp eq ptr addrspace(4) %g, %h
  %c = zext i1 %same to i8
  %r = getelementptr i8, ptr addrspace(1) %out, i64 8
  store i8 %c, ptr addrspace(1) %r, align 1
  ret void
}

define spir_kernel void @parts_of_addresses(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %d = sub i32 ptrtoint (ptr addrspace(2) getelementptr (i32, ptr addrspace(2) @table, i64 3) to i32), ptrtoint (ptr addrspace(2) @table to i32)
  store i32 %d, ptr addrspace(1) %out, align 4
  %v = sub <2 x i16> <i16 ptrtoint (ptr addrspace(2) getelementptr (i32, ptr addrspace(2) @table, i64 1) to i16), i16 21>, <i16 trunc (i64 ptrtoint (ptr addrspace(2) @table to i64) to i16), i16 14>
  %p = getelementptr i8, ptr addrspace(1) %out, i64 4
  store <2 x i16> %v, ptr addrspace(1) %p, align 4
  %x = xor i64 xor (i64 ptrtoint (ptr addrspace(2) @table to i64), i64 5), ptrtoint (ptr addrspace(2) @table to i64)
  %q = getelementptr i8, ptr addrspace(1) %out, i64 8
  store i64 %x, ptr addrspace(1) %q, align 8
  ret void
}

define spir_kernel void @private_array(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %a = alloca [6 x i32], align 4
  %b = alloca [6 x i32], align 4
  call void @llvm.lifetime.start.p0(ptr %a)
  call void @llvm.memcpy.p0.p1.i64(ptr align 4 %a, ptr addrspace(1) align 4 %in, i64 24, i1 false)
  call void @llvm.memset.p0.i64(ptr align 4 %b, i8 -86, i64 24, i1 false)
  %x = load i32, ptr addrspace(1) %in, align 4
  %i = urem i32 %x, 6
  %p = getelementptr inbounds [6 x i32], ptr %a, i64 0, i32 %i
  store i32 99, ptr %p, align 4
  %q = getelementptr i8, ptr %b, i64 4
  call void @llvm.memmove.p0.p0.i64(ptr align 4 %q, ptr align 4 %a, i64 12, i1 false)
  %r = getelementptr i8, ptr %a, i64 8
  call void @llvm.memmove.p0.p0.i64(ptr align 4 %r, ptr align 4 %a, i64 16, i1 false)
  call void @llvm.memcpy.p1.p0.i64(ptr addrspace(1) align 4 %out, ptr align 4 %a, i64 24, i1 false)
  %s = getelementptr i8, ptr addrspace(1) %out, i64 24
  call void @llvm.memcpy.p1.p0.i64(ptr addrspace(1) align 8 %s, ptr align 4 %b, i64 24, i1 false)
  call void @llvm.lifetime.end.p0(ptr %a)
  ret void
}

define spir_kernel void @unknown_lengths(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %a = alloca [64 x i8], align 1
  call void @llvm.memset.p0.i64(ptr %a, i8 1, i64 64, i1 false)
  %x = load i8, ptr addrspace(1) %in, align 1
  %y = and i8 %x, 31
  %n = zext i8 %y to i64
  %p = getelementptr i8, ptr addrspace(1) %in, i64 1
  call void @llvm.memcpy.p0.p1.i64(ptr %a, ptr addrspace(1) %p, i64 %n, i1 false)
  %q = getelementptr i8, ptr %a, i64 32
  call void @llvm.memset.p0.i64(ptr %q, i8 %x, i64 %n, i1 false)
  %r = getelementptr i8, ptr %a, i64 7
  call void @llvm.memmove.p0.p0.i64(ptr %r, ptr %a, i64 %n, i1 false)
  call void @llvm.memcpy.p1.p0.i64(ptr addrspace(1) %out, ptr %a, i64 64, i1 false)
  ret void
}

define spir_kernel void @fills(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  call void @llvm.memset.p1.i64(ptr addrspace(1) align 16 %out, i8 7, i64 40, i1 false)
  %p = getelementptr i8, ptr addrspace(1) %out, i64 40
  call void @llvm.memset.p1.i64(ptr addrspace(1) align 8 %p, i8 0, i64 3, i1 false)
  call void @llvm.memset.p1.i64(ptr addrspace(1) align 8 %p, i8 9, i64 0, i1 false)
  ret void
}

define spir_kernel void @constant_tables(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %x = load i32, ptr addrspace(1) %in, align 4
  %i = and i32 %x, 3
  %p = getelementptr inbounds [4 x i32], ptr addrspace(2) @table, i32 0, i32 %i
  %a = load i32, ptr addrspace(2) %p, align 4
  store i32 %a, ptr addrspace(1) %out, align 4
  %b = load i32, ptr addrspace(2) getelementptr inbounds ([4 x i32], ptr addrspace(2) @table, i64 0, i64 3), align 4
  %o1 = getelementptr i8, ptr addrspace(1) %out, i64 4
  store i32 %b, ptr addrspace(1) %o1, align 4
  %pt = getelementptr %record, ptr addrspace(2) @records, i32 0, i32 6
  %t = load ptr addrspace(2), ptr addrspace(2) %pt, align 8
  %c = load i32, ptr addrspace(2) %t, align 4
  %o2 = getelementptr i8, ptr addrspace(1) %out, i64 8
  store i32 %c, ptr addrspace(1) %o2, align 4
  %pu = getelementptr %record, ptr addrspace(2) @records, i32 1, i32 6
  %u = load ptr addrspace(2), ptr addrspace(2) %pu, align 8
  %u4 = getelementptr i8, ptr addrspace(2) %u, i64 4
  %d = load i8, ptr addrspace(2) %u4, align 1
  %o3 = getelementptr i8, ptr addrspace(1) %out, i64 12
  store i8 %d, ptr addrspace(1) %o3, align 1
  %e = load i64, ptr addrspace(2) @distance, align 8
  %o4 = getelementptr i8, ptr addrspace(1) %out, i64 16
  store i64 %e, ptr addrspace(1) %o4, align 8
  %f = load i32, ptr addrspace(2) @other, align 4
  %o5 = getelementptr i8, ptr addrspace(1) %out, i64 24
  store i32 %f, ptr addrspace(1) %o5, align 4
  ret void
}

define spir_kernel void @constant_records(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %p0 = getelementptr %record, ptr addrspace(2) @records, i32 0, i32 0
  %a = load i8, ptr addrspace(2) %p0, align 1
  store i8 %a, ptr addrspace(1) %out, align 1
  %p1 = getelementptr %record, ptr addrspace(2) @records, i32 0, i32 1
  %b = load i32, ptr addrspace(2) %p1, align 4
  %o1 = getelementptr i8, ptr addrspace(1) %out, i64 4
  store i32 %b, ptr addrspace(1) %o1, align 4
  %p2 = getelementptr %record, ptr addrspace(2) @records, i32 0, i32 2
  %c = load <3 x i16>, ptr addrspace(2) %p2, align 8
  %o2 = getelementptr i8, ptr addrspace(1) %out, i64 8
  store <3 x i16> %c, ptr addrspace(1) %o2, align 8
  %p3 = getelementptr %record, ptr addrspace(2) @records, i32 0, i32 3
  %d = load half, ptr addrspace(2) %p3, align 2
  %o3 = getelementptr i8, ptr addrspace(1) %out, i64 14
  store half %d, ptr addrspace(1) %o3, align 2
  %p4 = getelementptr %record, ptr addrspace(2) @records, i32 0, i32 4
  %e = load double, ptr addrspace(2) %p4, align 8
  %o4 = getelementptr i8, ptr addrspace(1) %out, i64 16
  store double %e, ptr addrspace(1) %o4, align 8
  %p5 = getelementptr %record, ptr addrspace(2) @records, i32 0, i32 5, i32 1
  %f = load i24, ptr addrspace(2) %p5, align 4
  %g = sext i24 %f to i32
  %o5 = getelementptr i8, ptr addrspace(1) %out, i64 24
  store i32 %g, ptr addrspace(1) %o5, align 4
  %p6 = getelementptr %record, ptr addrspace(2) @records, i32 0, i32 5, i32 0
  %h = load i24, ptr addrspace(2) %p6, align 4
  %i = sext i24 %h to i32
  %o6 = getelementptr i8, ptr addrspace(1) %out, i64 28
  store i32 %i, ptr addrspace(1) %o6, align 4
  %p7 = getelementptr %record, ptr addrspace(2) @records, i32 0, i32 7
  %j = load i128, ptr addrspace(2) %p7, align 16
  %o7 = getelementptr i8, ptr addrspace(1) %out, i64 32
  store i128 %j, ptr addrspace(1) %o7, align 16
  ret void
}

define spir_kernel void @constant_scalars(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %v = load { float, <4 x float>, i16, <2 x i64> }, ptr addrspace(2) @scalars, align 32
  store { float, <4 x float>, i16, <2 x i64> } %v, ptr addrspace(1) %out, align 32
  ret void
}

define spir_kernel void @program_variables(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %p = load ptr addrspace(1), ptr addrspace(1) @address, align 8
  %x = load i32, ptr addrspace(1) %p, align 4
  store i32 %x, ptr addrspace(1) %out, align 4
  %y = load i32, ptr addrspace(1) %in, align 4
  store i32 %y, ptr addrspace(1) @variable, align 4
  %z = load <4 x i32>, ptr addrspace(1) @variable, align 16
  %o = getelementptr i8, ptr addrspace(1) %out, i64 16
  store <4 x i32> %z, ptr addrspace(1) %o, align 16
  store i32 1, ptr addrspace(1) @variable, align 4
  %a = load ptr addrspace(1), ptr addrspace(1) @loop_a, align 8
  %b = load ptr addrspace(1), ptr addrspace(1) %a, align 8
  %c = icmp eq ptr addrspace(1) %b, @loop_a
  %d = zext i1 %c to i8
  %q = getelementptr i8, ptr addrspace(1) %out, i64 4
  store i8 %d, ptr addrspace(1) %q, align 1
  ret void
}

define spir_kernel void @local_variables(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %x = load i32, ptr addrspace(1) %in, align 4
  %i = and i32 %x, 7
  %p = getelementptr inbounds [8 x i32], ptr addrspace(3) @scratch, i32 0, i32 %i
  store i32 %x, ptr addrspace(3) %p, align 4
  store i32 5, ptr addrspace(3) getelementptr inbounds ([8 x i32], ptr addrspace(3) @scratch, i64 0, i64 1), align 4
  %y = load i32, ptr addrspace(3) %p, align 4
  store i32 %y, ptr addrspace(1) %out, align 4
  ret void
}

define spir_kernel void @atomics(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %x = load i32, ptr addrspace(1) %in, align 4
  %p = getelementptr i8, ptr addrspace(1) %in, i64 4
  %y = load i32, ptr addrspace(1) %p, align 4
  store atomic i32 %x, ptr addrspace(1) %out release, align 4
  %a = atomicrmw add ptr addrspace(1) %out, i32 %y seq_cst, align 4
  %b = atomicrmw sub ptr addrspace(1) %out, i32 3 monotonic, align 4
  %c = atomicrmw umax ptr addrspace(1) %out, i32 %y acquire, align 4
  %d = atomicrmw min ptr addrspace(1) %out, i32 %x acq_rel, align 4
  %e = atomicrmw xor ptr addrspace(1) %out, i32 -1 release, align 4
  %f = atomicrmw and ptr addrspace(1) %out, i32 252645135 syncscope("workgroup") seq_cst, align 4
  %g = atomicrmw or ptr addrspace(1) %out, i32 16 seq_cst, align 4
  %h = atomicrmw max ptr addrspace(1) %out, i32 %a seq_cst, align 4
  %i = atomicrmw umin ptr addrspace(1) %out, i32 %b seq_cst, align 4
  fence seq_cst
  fence syncscope("singlethread") acq_rel
  %pair = cmpxchg ptr addrspace(1) %out, i32 %i, i32 %x acq_rel monotonic, align 4
  %old = extractvalue { i32, i1 } %pair, 0
  %ok = extractvalue { i32, i1 } %pair, 1
  %j = atomicrmw xchg ptr addrspace(1) %out, i32 %old seq_cst, align 4
  %k = load atomic i32, ptr addrspace(1) %out acquire, align 4
  %sum0 = add i32 %a, %b
  %sum1 = mul i32 %sum0, 31
  %sum2 = add i32 %sum1, %c
  %sum3 = mul i32 %sum2, 31
  %sum4 = add i32 %sum3, %d
  %sum5 = mul i32 %sum4, 31
  %sum6 = add i32 %sum5, %e
  %sum7 = xor i32 %sum6, %f
  %sum8 = mul i32 %sum7, 31
  %sum9 = add i32 %sum8, %g
  %sum10 = xor i32 %sum9, %h
  %sum11 = mul i32 %sum10, 31
  %sum12 = add i32 %sum11, %j
  %sum13 = xor i32 %sum12, %k
  %q = getelementptr i8, ptr addrspace(1) %out, i64 4
  store i32 %sum13, ptr addrspace(1) %q, align 4
  %r = getelementptr i8, ptr addrspace(1) %out, i64 8
  %okz = zext i1 %ok to i8
  store i8 %okz, ptr addrspace(1) %r, align 1
  %s = getelementptr i8, ptr addrspace(1) %out, i64 16
  store float 1.5, ptr addrspace(1) %s, align 4
  %t = atomicrmw fadd ptr addrspace(1) %s, float 2.25 seq_cst, align 4
  %u = atomicrmw xchg ptr addrspace(1) %s, float %t seq_cst, align 4
  %v = getelementptr i8, ptr addrspace(1) %out, i64 20
  store float %u, ptr addrspace(1) %v, align 4
  ret void
}

define spir_kernel void @volatile_accesses(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %x = load volatile <2 x i32>, ptr addrspace(1) %in, align 8
  store volatile <2 x i32> %x, ptr addrspace(1) %out, align 4
  %y = load volatile <2 x i32>, ptr addrspace(1) %out, align 4
  %o = getelementptr i8, ptr addrspace(1) %out, i64 9
  store <2 x i32> %y, ptr addrspace(1) %o, align 1
  ret void
}
