// What programs see of functions that clang does not declare by itself, as they would see it of clang's own: for extensions
// whose macros are defined. Nothing else is left defined.
#define __lockstep_overload __attribute__((overloadable))
#define __lockstep_convergent __attribute__((overloadable, convergent))
#define __lockstep_for_vectors(M, F, T) M(F, T) M(F, T##2) M(F, T##3) M(F, T##4) M(F, T##8) M(F, T##16)
#define __lockstep_of_one(F, T) T __lockstep_convergent F(T x);
#define __lockstep_with_index(F, T) T __lockstep_convergent F(T x, uint index);
#define __lockstep_of_two(F, T) T __lockstep_convergent F(T x, T y, uint index);
#define __lockstep_scans(GROUP, OP, T)                                                                                 \
    __lockstep_of_one(GROUP##_reduce_##OP, T) __lockstep_of_one(GROUP##_scan_inclusive_##OP, T)                        \
        __lockstep_of_one(GROUP##_scan_exclusive_##OP, T)

#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

#ifdef cl_khr_work_group_uniform_arithmetic
#define __lockstep_integers(M, OP) M(work_group, OP, int) M(work_group, OP, uint) M(work_group, OP, long) M(work_group, OP, ulong)
__lockstep_integers(__lockstep_scans, mul)
__lockstep_integers(__lockstep_scans, and)
__lockstep_integers(__lockstep_scans, or)
__lockstep_integers(__lockstep_scans, xor)
__lockstep_scans(work_group, logical_and, int)
__lockstep_scans(work_group, logical_or, int)
__lockstep_scans(work_group, logical_xor, int)
__lockstep_scans(work_group, mul, float)
#ifdef cl_khr_fp64
__lockstep_scans(work_group, mul, double)
#endif
#ifdef cl_khr_fp16
__lockstep_scans(work_group, mul, half)
#endif
#undef __lockstep_integers
#endif

#ifdef cl_intel_split_work_group_barrier
void __lockstep_convergent intel_work_group_barrier_arrive(cl_mem_fence_flags flags);
void __lockstep_convergent intel_work_group_barrier_wait(cl_mem_fence_flags flags);
#if __OPENCL_C_VERSION__ >= 200 || defined(__OPENCL_CPP_VERSION__)
void __lockstep_convergent intel_work_group_barrier_arrive(cl_mem_fence_flags flags, memory_scope scope);
void __lockstep_convergent intel_work_group_barrier_wait(cl_mem_fence_flags flags, memory_scope scope);
#endif
#endif

#ifdef cl_intel_bfloat16_conversions
#define __lockstep_bfloat16(N)                                                                                         \
    ushort##N __lockstep_overload intel_convert_bfloat16##N##_as_ushort##N(float##N x);                                \
    float##N __lockstep_overload intel_convert_as_bfloat16##N##_float##N(ushort##N x);
__lockstep_bfloat16()
__lockstep_bfloat16(2)
__lockstep_bfloat16(3)
__lockstep_bfloat16(4)
__lockstep_bfloat16(8)
__lockstep_bfloat16(16)
#undef __lockstep_bfloat16
#endif

#ifdef cl_intel_subgroups
#define __lockstep_shuffles(M, T)                                                                                      \
    M(__lockstep_with_index, intel_sub_group_shuffle, T)                                                               \
    M(__lockstep_with_index, intel_sub_group_shuffle_xor, T)                                                           \
    M(__lockstep_of_two, intel_sub_group_shuffle_down, T)                                                              \
    M(__lockstep_of_two, intel_sub_group_shuffle_up, T)
#define __lockstep_scalar(M, F, T) M(F, T)
__lockstep_shuffles(__lockstep_for_vectors, float)
__lockstep_shuffles(__lockstep_for_vectors, int)
__lockstep_shuffles(__lockstep_for_vectors, uint)
__lockstep_shuffles(__lockstep_scalar, long)
__lockstep_shuffles(__lockstep_scalar, ulong)
#ifdef cl_khr_fp64
__lockstep_shuffles(__lockstep_scalar, double)
#endif
#ifdef cl_khr_fp16
__lockstep_shuffles(__lockstep_scalar, half)
#endif

#ifdef __opencl_c_read_write_images
#define __lockstep_image_blocks(F, T, N)                                                                               \
    T##N __lockstep_convergent intel_sub_group_block_read##F##N(read_only image2d_t image, int2 at);                   \
    void __lockstep_convergent intel_sub_group_block_write##F##N(write_only image2d_t image, int2 at, T##N data);      \
    T##N __lockstep_convergent intel_sub_group_block_read##F##N(read_write image2d_t image, int2 at);                  \
    void __lockstep_convergent intel_sub_group_block_write##F##N(read_write image2d_t image, int2 at, T##N data);
#else
#define __lockstep_image_blocks(F, T, N)                                                                               \
    T##N __lockstep_convergent intel_sub_group_block_read##F##N(read_only image2d_t image, int2 at);                   \
    void __lockstep_convergent intel_sub_group_block_write##F##N(write_only image2d_t image, int2 at, T##N data);
#endif
#define __lockstep_memory_blocks(F, T, N, SPACE)                                                                       \
    T##N __lockstep_convergent intel_sub_group_block_read##F##N(const SPACE T *from);                                  \
    void __lockstep_convergent intel_sub_group_block_write##F##N(SPACE T *to, T##N data);
#define __lockstep_blocks(F, T, N)                                                                                     \
    __lockstep_image_blocks(F, T, N) __lockstep_memory_blocks(F, T, N, __global)                                       \
        __lockstep_memory_blocks(F, T, N, __local)
#define __lockstep_blocks_of(F, T)                                                                                     \
    __lockstep_blocks(F, T, ) __lockstep_blocks(F, T, 2) __lockstep_blocks(F, T, 4) __lockstep_blocks(F, T, 8)
__lockstep_blocks_of(, uint)
#if defined(cl_intel_subgroups_char) || defined(cl_intel_subgroups_short) || defined(cl_intel_subgroups_long)
__lockstep_blocks_of(_ui, uint)
#endif

#define __lockstep_small_types(T)                                                                                      \
    __lockstep_shuffles(__lockstep_for_vectors, T) __lockstep_with_index(intel_sub_group_broadcast, T)                 \
        __lockstep_with_index(intel_sub_group_broadcast, T##2) __lockstep_with_index(intel_sub_group_broadcast, T##3)  \
            __lockstep_with_index(intel_sub_group_broadcast, T##4)                                                     \
                __lockstep_with_index(intel_sub_group_broadcast, T##8)                                                 \
                    __lockstep_scans(intel_sub_group, add, T) __lockstep_scans(intel_sub_group, min, T)                \
                        __lockstep_scans(intel_sub_group, max, T)
#ifdef cl_intel_subgroups_char
__lockstep_small_types(char)
__lockstep_small_types(uchar)
__lockstep_blocks_of(_uc, uchar)
__lockstep_blocks(_uc, uchar, 16)
#endif
#ifdef cl_intel_subgroups_short
__lockstep_small_types(short)
__lockstep_small_types(ushort)
__lockstep_blocks_of(_us, ushort)
__lockstep_blocks(_us, ushort, 16)
#endif
#ifdef cl_intel_subgroups_long
__lockstep_blocks_of(_ul, ulong)
__lockstep_image_blocks(_ul, ulong, 16)
#endif
#undef __lockstep_shuffles
#undef __lockstep_scalar
#undef __lockstep_image_blocks
#undef __lockstep_memory_blocks
#undef __lockstep_blocks
#undef __lockstep_blocks_of
#undef __lockstep_small_types
#endif

#undef __lockstep_overload
#undef __lockstep_convergent
#undef __lockstep_for_vectors
#undef __lockstep_of_one
#undef __lockstep_with_index
#undef __lockstep_of_two
#undef __lockstep_scans

// As it is where no program has asked for it.
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : disable
#endif
