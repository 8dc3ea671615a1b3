// 6.15.19 Reductions and scans of sub-groups, cl_khr_subgroup_non_uniform_arithmetic and
// cl_khr_subgroup_clustered_reduce: compiled once for each type.
#include "sub_group.h"

// What adds and what compares values of a type has a letter before its name.
#define DECLARE(PRE, OP, T)                                                                                            \
    __attribute__((convergent)) T __lockstep_gang_reduce_##PRE##OP##_##T(T x);                                         \
    __attribute__((convergent, nomerge)) T __lockstep_gang_reduce_##PRE##OP##_##T##_cluster(T x, uint size);           \
    __attribute__((convergent)) T __lockstep_gang_inclusive_##PRE##OP##_##T(T x);                                      \
    __attribute__((convergent)) T __lockstep_gang_exclusive_##PRE##OP##_##T(T x);

#define OPERATION(GROUP, PRE, OP, T)                                                                                   \
    CONVERGENT T GROUP##_reduce_##OP(T x) { return __lockstep_gang_reduce_##PRE##OP##_##T(x); }                        \
    CONVERGENT T GROUP##_scan_inclusive_##OP(T x) { return __lockstep_gang_inclusive_##PRE##OP##_##T(x); }             \
    CONVERGENT T GROUP##_scan_exclusive_##OP(T x) { return __lockstep_gang_exclusive_##PRE##OP##_##T(x); }

#define NON_UNIFORM(PRE, OP, T)                                                                                        \
    OPERATION(sub_group_non_uniform, PRE, OP, T)                                                                       \
    CONVERGENT T sub_group_clustered_reduce_##OP(T x, uint size)                                                       \
    {                                                                                                                  \
        return __lockstep_gang_reduce_##PRE##OP##_##T##_cluster(x, size);                                              \
    }

// cl_intel_subgroups_char and cl_intel_subgroups_short have names of their own for small types.
#define BOTH(PRE, OP, T)                                                                                               \
    DECLARE(PRE, OP, T) OPERATION(sub_group, PRE, OP, T) NON_UNIFORM(PRE, OP, T) OPERATION(intel_sub_group, PRE, OP, T)
#define ARITHMETIC(ADD, ORDER, T)                                                                                      \
    BOTH(ADD, add, T) BOTH(ORDER, min, T) BOTH(ORDER, max, T) DECLARE(ADD, mul, T) NON_UNIFORM(ADD, mul, T)
#define ONE(M, T) M(T)
#define OF_SIGNED(T) ARITHMETIC(, s, T)
#define OF_UNSIGNED(T) ARITHMETIC(, u, T)
#define OF_FLOATS(T) ARITHMETIC(f, f, T)
#define OF_BITS(T)                                                                                                     \
    DECLARE(, and, T) NON_UNIFORM(, and, T) DECLARE(, or, T) NON_UNIFORM(, or, T) DECLARE(, xor, T) NON_UNIFORM(, xor, T)
FOR_SIGNED(ONE, OF_SIGNED)
FOR_UNSIGNED(ONE, OF_UNSIGNED)
FOR_FLOATS(ONE, OF_FLOATS)
FOR_INTEGERS(ONE, OF_BITS)
