// 6.15.19 Sub-group functions, with the types of cl_khr_subgroup_extended_types.
//
// The work-group is its only sub-group: so sub-groups make progress independently of each other, as cl_khr_subgroups asks
// for, and whoever arrives at a function of the sub-group does so with the whole work-group.
#include "lockstep.h"

INL uint items(void) { return __lockstep_local_size(0) * __lockstep_local_size(1) * __lockstep_local_size(2); }
INL uint own(void)
{
    return (__lockstep_local_id(2) * __lockstep_local_size(1) + __lockstep_local_id(1)) * __lockstep_local_size(0) +
           __lockstep_local_id(0);
}

OVL uint get_sub_group_size(void) { return items(); }
OVL uint get_max_sub_group_size(void)
{
    return __lockstep_enqueued_local_size(0) * __lockstep_enqueued_local_size(1) * __lockstep_enqueued_local_size(2);
}
OVL uint get_num_sub_groups(void) { return 1; }
OVL uint get_enqueued_num_sub_groups(void) { return 1; }
OVL uint get_sub_group_id(void) { return 0; }
OVL uint get_sub_group_local_id(void) { return own(); }

OVL void __attribute__((convergent)) sub_group_barrier(cl_mem_fence_flags flags)
{
    __lockstep_barrier(flags, memory_scope_sub_group);
}
OVL void __attribute__((convergent)) sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
    __lockstep_barrier(flags, scope);
}

#define COLLECTIVE(PRE, OP, T)                                                                                         \
    __attribute__((convergent)) T __lockstep_collective_reduce_##PRE##OP##_##T(T x);                                   \
    __attribute__((convergent)) T __lockstep_collective_inclusive_##PRE##OP##_##T(T x);                                \
    __attribute__((convergent)) T __lockstep_collective_exclusive_##PRE##OP##_##T(T x);                                \
    OVL T __attribute__((convergent)) sub_group_reduce_##OP(T x)                                                       \
    {                                                                                                                  \
        return __lockstep_collective_reduce_##PRE##OP##_##T(x);                                                        \
    }                                                                                                                  \
    OVL T __attribute__((convergent)) sub_group_scan_inclusive_##OP(T x)                                               \
    {                                                                                                                  \
        return __lockstep_collective_inclusive_##PRE##OP##_##T(x);                                                     \
    }                                                                                                                  \
    OVL T __attribute__((convergent)) sub_group_scan_exclusive_##OP(T x)                                               \
    {                                                                                                                  \
        return __lockstep_collective_exclusive_##PRE##OP##_##T(x);                                                     \
    }
// What adds and what compares values of a type has a letter before its name.
#define COLLECTIVES(ADD, ORDER, T)                                                                                     \
    COLLECTIVE(ADD, add, T) COLLECTIVE(ORDER, min, T) COLLECTIVE(ORDER, max, T)
COLLECTIVES(, s, char)
COLLECTIVES(, u, uchar)
COLLECTIVES(, s, short)
COLLECTIVES(, u, ushort)
COLLECTIVES(, s, int)
COLLECTIVES(, u, uint)
COLLECTIVES(, s, long)
COLLECTIVES(, u, ulong)
COLLECTIVES(f, f, half)
COLLECTIVES(f, f, float)
COLLECTIVES(f, f, double)

__attribute__((convergent)) int __lockstep_collective_reduce_and_int(int x);
__attribute__((convergent)) int __lockstep_collective_reduce_or_int(int x);
__attribute__((convergent)) long __lockstep_collective_reduce_or_long(long x);

OVL int __attribute__((convergent)) sub_group_all(int x) { return __lockstep_collective_reduce_and_int(x != 0); }
OVL int __attribute__((convergent)) sub_group_any(int x) { return __lockstep_collective_reduce_or_int(x != 0); }

// All work-items but one give zeros.
#define BROADCAST(T, BITS, AS_BITS, AS_T)                                                                              \
    OVL T __attribute__((convergent)) sub_group_broadcast(T v, uint id)                                                \
    {                                                                                                                  \
        return AS_T(__lockstep_collective_reduce_or_##BITS(own() == id ? AS_BITS(v) : 0));                             \
    }                                                                                                                  \
    OVL T##2 __attribute__((convergent)) sub_group_broadcast(T##2 v, uint id)                                          \
    {                                                                                                                  \
        return (T##2)(sub_group_broadcast(v.s0, id), sub_group_broadcast(v.s1, id));                                   \
    }                                                                                                                  \
    OVL T##3 __attribute__((convergent)) sub_group_broadcast(T##3 v, uint id)                                          \
    {                                                                                                                  \
        return (T##3)(sub_group_broadcast(v.s01, id), sub_group_broadcast(v.s2, id));                                  \
    }                                                                                                                  \
    BROADCAST_HALVES(T, 4) BROADCAST_HALVES(T, 8) BROADCAST_HALVES(T, 16)
#define BROADCAST_HALVES(T, N)                                                                                         \
    OVL T##N __attribute__((convergent)) sub_group_broadcast(T##N v, uint id)                                          \
    {                                                                                                                  \
        return (T##N)(sub_group_broadcast(v.lo, id), sub_group_broadcast(v.hi, id));                                   \
    }
#define TO_HALF(x) as_half((short)(x))
BROADCAST(char, int, (int), (char))
BROADCAST(uchar, int, (int), (uchar))
BROADCAST(short, int, (int), (short))
BROADCAST(ushort, int, (int), (ushort))
BROADCAST(int, int, as_int, as_int)
BROADCAST(uint, int, as_int, as_uint)
BROADCAST(long, long, as_long, as_long)
BROADCAST(ulong, long, as_long, as_ulong)
BROADCAST(half, int, as_short, TO_HALF)
BROADCAST(float, int, as_int, as_float)
BROADCAST(double, long, as_long, as_double)
