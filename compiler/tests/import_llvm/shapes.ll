; Changes of shape: vectors, aggregates, integers of odd widths. Every kernel reads %in and writes %out.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @bytes_to_int(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %v = load <4 x i8>, ptr addrspace(1) %in, align 4
  %s = shufflevector <4 x i8> %v, <4 x i8> poison, <4 x i32> <i32 3, i32 1, i32 0, i32 2>
  %i = bitcast <4 x i8> %s to i32
  store i32 %i, ptr addrspace(1) %out, align 4
  ret void
}

define spir_kernel void @long_to_ints(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %l = load i64, ptr addrspace(1) %in, align 8
  %v = bitcast i64 %l to <2 x i32>
  %s = shufflevector <2 x i32> %v, <2 x i32> poison, <2 x i32> <i32 1, i32 0>
  store <2 x i32> %s, ptr addrspace(1) %out, align 8
  ret void
}

define spir_kernel void @double_to_shorts(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %d = load double, ptr addrspace(1) %in, align 8
  %v = bitcast double %d to <4 x i16>
  %e = extractelement <4 x i16> %v, i32 2
  store i16 %e, ptr addrspace(1) %out, align 2
  %p = getelementptr i8, ptr addrspace(1) %out, i64 8
  %f = bitcast double %d to <2 x float>
  %f1 = extractelement <2 x float> %f, i32 1
  store float %f1, ptr addrspace(1) %p, align 4
  ret void
}

define spir_kernel void @shorts_to_ints(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %v = load <8 x i16>, ptr addrspace(1) %in, align 16
  %w = bitcast <8 x i16> %v to <4 x i32>
  %r = add <4 x i32> %w, <i32 1, i32 2, i32 3, i32 4>
  store <4 x i32> %r, ptr addrspace(1) %out, align 16
  ret void
}

define spir_kernel void @ints_to_48_bits(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %v = load <3 x i32>, ptr addrspace(1) %in, align 16
  %w = bitcast <3 x i32> %v to <2 x i48>
  %a = extractelement <2 x i48> %w, i32 0
  %b = extractelement <2 x i48> %w, i32 1
  %s = mul i48 %a, %b
  %z = zext i48 %s to i64
  store i64 %z, ptr addrspace(1) %out, align 8
  ret void
}

define spir_kernel void @bytes_to_i128(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %v = load <16 x i8>, ptr addrspace(1) %in, align 16
  %w = bitcast <16 x i8> %v to i128
  %m = mul i128 %w, 340282366920938463463374607431768211297
  %r = bitcast i128 %m to <2 x double>
  store <2 x double> %r, ptr addrspace(1) %out, align 16
  ret void
}

define spir_kernel void @halves_to_int(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %v = load <2 x half>, ptr addrspace(1) %in, align 4
  %i = bitcast <2 x half> %v to i32
  %r = xor i32 %i, -2147450880
  store i32 %r, ptr addrspace(1) %out, align 4
  ret void
}

define spir_kernel void @condition_masks(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %v = load <4 x i32>, ptr addrspace(1) %in, align 16
  %c = icmp slt <4 x i32> %v, zeroinitializer
  %m = bitcast <4 x i1> %c to i4
  %z = zext i4 %m to i8
  store i8 %z, ptr addrspace(1) %out, align 1
  %back = trunc i8 %z to i4
  %d = bitcast i4 %back to <4 x i1>
  %s = select <4 x i1> %d, <4 x i32> %v, <4 x i32> <i32 10, i32 20, i32 30, i32 40>
  %p = getelementptr i8, ptr addrspace(1) %out, i64 16
  store <4 x i32> %s, ptr addrspace(1) %p, align 16
  ret void
}

define spir_kernel void @packed_conditions_in_memory(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %v = load <8 x i1>, ptr addrspace(1) %in, align 1
  %p = getelementptr i8, ptr addrspace(1) %in, i64 1
  %w = load <8 x i1>, ptr addrspace(1) %p, align 1
  %x = xor <8 x i1> %v, %w
  store <8 x i1> %x, ptr addrspace(1) %out, align 1
  %r = shufflevector <8 x i1> %x, <8 x i1> %v, <8 x i32> <i32 15, i32 0, i32 9, i32 3, i32 2, i32 12, i32 5, i32 7>
  %q = getelementptr i8, ptr addrspace(1) %out, i64 1
  store <8 x i1> %r, ptr addrspace(1) %q, align 1
  ret void
}

define spir_kernel void @odd_integers_in_memory(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %a = load i24, ptr addrspace(1) %in, align 4
  %b = mul i24 %a, 77
  store i24 %b, ptr addrspace(1) %out, align 4
  %p = getelementptr i8, ptr addrspace(1) %in, i64 8
  %c = load i48, ptr addrspace(1) %p, align 8
  %d = sext i24 %b to i48
  %e = sub i48 %c, %d
  %q = getelementptr i8, ptr addrspace(1) %out, i64 8
  store i48 %e, ptr addrspace(1) %q, align 8
  %r = getelementptr i8, ptr addrspace(1) %in, i64 16
  %f = load i40, ptr addrspace(1) %r, align 8
  %s = getelementptr i8, ptr addrspace(1) %out, i64 16
  store i40 %f, ptr addrspace(1) %s, align 8
  ret void
}

define spir_kernel void @vectors_of_24_bits(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %v = load <3 x i8>, ptr addrspace(1) %in, align 4
  %i = bitcast <3 x i8> %v to i24
  %r = lshr i24 %i, 4
  %w = bitcast i24 %r to <3 x i8>
  store <3 x i8> %w, ptr addrspace(1) %out, align 4
  ret void
}

define spir_kernel void @conditions_in_memory(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %x = load i32, ptr addrspace(1) %in, align 4
  %c = icmp sgt i32 %x, 5
  %slot = alloca i1, align 1
  store i1 %c, ptr %slot, align 1
  %d = load i1, ptr %slot, align 1
  %z = sext i1 %d to i32
  store i32 %z, ptr addrspace(1) %out, align 4
  ret void
}

define spir_kernel void @dynamic_elements(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %v = load <4 x i32>, ptr addrspace(1) %in, align 16
  %p = getelementptr i8, ptr addrspace(1) %in, i64 16
  %i = load i32, ptr addrspace(1) %p, align 4
  %j = and i32 %i, 3
  %e = extractelement <4 x i32> %v, i32 %j
  %k = lshr i32 %i, 30
  %w = insertelement <4 x i32> %v, i32 %e, i32 %k
  store <4 x i32> %w, ptr addrspace(1) %out, align 16
  ret void
}

define spir_kernel void @dynamic_elements_of_three(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %v = load <3 x i16>, ptr addrspace(1) %in, align 8
  %p = getelementptr i8, ptr addrspace(1) %in, i64 16
  %i = load i8, ptr addrspace(1) %p, align 1
  %j = urem i8 %i, 3
  %e = extractelement <3 x i16> %v, i8 %j
  store i16 %e, ptr addrspace(1) %out, align 2
  ret void
}

define spir_kernel void @dynamic_elements_of_sixteen(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %v = load <16 x i8>, ptr addrspace(1) %in, align 16
  %p = getelementptr i8, ptr addrspace(1) %in, i64 16
  %i = load i64, ptr addrspace(1) %p, align 8
  %j = and i64 %i, 15
  %e = extractelement <16 x i8> %v, i64 %j
  %w = insertelement <16 x i8> %v, i8 9, i64 %j
  %x = insertelement <16 x i8> %w, i8 %e, i64 0
  store <16 x i8> %x, ptr addrspace(1) %out, align 16
  ret void
}

define spir_kernel void @widen_and_narrow(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %v = load <3 x float>, ptr addrspace(1) %in, align 16
  %w = shufflevector <3 x float> %v, <3 x float> <float 1.0, float 2.0, float 3.0>, <4 x i32> <i32 2, i32 1, i32 4, i32 0>
  store <4 x float> %w, ptr addrspace(1) %out, align 16
  ret void
}

%pair = type { i8, i32, [2 x { i16, double }], <3 x float> }

define spir_kernel void @aggregate_values(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %a = load %pair, ptr addrspace(1) %in, align 16
  %x = extractvalue %pair %a, 2, 1, 0
  %inner = extractvalue %pair %a, 2, 0
  %b = insertvalue %pair %a, { i16, double } %inner, 2, 1
  %c = insertvalue %pair %b, i16 %x, 2, 0, 0
  %v = extractvalue %pair %a, 3
  %r = shufflevector <3 x float> %v, <3 x float> poison, <3 x i32> <i32 2, i32 0, i32 1>
  %d = insertvalue %pair %c, <3 x float> %r, 3
  store %pair %d, ptr addrspace(1) %out, align 16
  ret void
}

define spir_kernel void @aggregates_chosen(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %a = load { i32, [3 x i16] }, ptr addrspace(1) %in, align 4
  %p = getelementptr i8, ptr addrspace(1) %in, i64 16
  %b = load { i32, [3 x i16] }, ptr addrspace(1) %p, align 4
  %first = extractvalue { i32, [3 x i16] } %a, 0
  %c = icmp slt i32 %first, 0
  %s = select i1 %c, { i32, [3 x i16] } %a, { i32, [3 x i16] } %b
  br i1 %c, label %join, label %else
else:
  %e = insertvalue { i32, [3 x i16] } %s, i16 7, 1, 2
  br label %join
join:
  %r = phi { i32, [3 x i16] } [ %b, %entry ], [ %e, %else ]
  store { i32, [3 x i16] } %r, ptr addrspace(1) %out, align 4
  %q = getelementptr i8, ptr addrspace(1) %out, i64 16
  store { i32, [3 x i16] } %s, ptr addrspace(1) %q, align 4
  ret void
}

define spir_kernel void @vector_phis_that_swap(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %a0 = load <3 x i32>, ptr addrspace(1) %in, align 16
  %p = getelementptr i8, ptr addrspace(1) %in, i64 16
  %b0 = load <3 x i32>, ptr addrspace(1) %p, align 16
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %a = phi <3 x i32> [ %a0, %entry ], [ %b, %loop ]
  %b = phi <3 x i32> [ %b0, %entry ], [ %a, %loop ]
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, 6
  br i1 %more, label %loop, label %end
end:
  store <3 x i32> %a, ptr addrspace(1) %out, align 16
  %q = getelementptr i8, ptr addrspace(1) %out, i64 16
  store <3 x i32> %b, ptr addrspace(1) %q, align 16
  ret void
}

define spir_kernel void @switch_with_shared_targets(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %x = load i32, ptr addrspace(1) %in, align 4
  %y = and i32 %x, 7
  switch i32 %y, label %other [
    i32 0, label %join
    i32 3, label %join
    i32 5, label %five
    i32 7, label %other
  ]
five:
  br label %join
other:
  %o = phi i32 [ %y, %entry ], [ %y, %entry ]
  %t = mul i32 %o, 100
  br label %join
join:
  %r = phi i32 [ 11, %entry ], [ 11, %entry ], [ 55, %five ], [ %t, %other ]
  store i32 %r, ptr addrspace(1) %out, align 4
  ret void
}

define spir_kernel void @branch_to_one_block_twice(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %x = load i32, ptr addrspace(1) %in, align 4
  %c = icmp eq i32 %x, 0
  br i1 %c, label %join, label %join
join:
  %r = phi i32 [ %x, %entry ], [ %x, %entry ]
  store i32 %r, ptr addrspace(1) %out, align 4
  ret void
}

define spir_kernel void @blocks_out_of_order(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  br label %first
last:
  store i32 %b, ptr addrspace(1) %out, align 4
  ret void
second:
  %b = add i32 %a, 3
  br label %last
never:
  %z = add i32 %a, 4
  br label %last
first:
  %a = load i32, ptr addrspace(1) %in, align 4
  br label %second
}

define spir_kernel void @wide_switch(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %x = load i64, ptr addrspace(1) %in, align 8
  switch i64 %x, label %other [
    i64 -1, label %a
    i64 -9223372036854775808, label %b
    i64 0, label %c
  ]
a:
  br label %join
b:
  br label %join
c:
  br label %join
other:
  br label %join
join:
  %r = phi <2 x i16> [ <i16 1, i16 -1>, %a ], [ <i16 2, i16 -2>, %b ], [ <i16 3, i16 -3>, %c ], [ zeroinitializer, %other ]
  store <2 x i16> %r, ptr addrspace(1) %out, align 4
  ret void
}
