// 6.15.16 Work-group functions. The primitives take one value from each work-item of the group; see lockstep.h.
#include "collective.h"

COLLECTIVES(, s, int)
COLLECTIVES(, u, uint)
COLLECTIVES(, s, long)
COLLECTIVES(, u, ulong)
COLLECTIVES(f, f, half)
COLLECTIVES(f, f, float)
COLLECTIVES(f, f, double)

// cl_khr_work_group_uniform_arithmetic
PRODUCTS(, int)
PRODUCTS(, uint)
PRODUCTS(, long)
PRODUCTS(, ulong)
PRODUCTS(f, half)
PRODUCTS(f, float)
PRODUCTS(f, double)
BITWISE(int)
BITWISE(uint)
BITWISE(long)
BITWISE(ulong)

// What stands before the first work-item is the operation's identity, of which one bit counts.
#define LOGICAL(OP)                                                                                                    \
    OVL int __attribute__((convergent)) work_group_reduce_logical_##OP(int x)                                          \
    {                                                                                                                  \
        return __lockstep_collective_reduce_##OP##_int(x != 0);                                                        \
    }                                                                                                                  \
    OVL int __attribute__((convergent)) work_group_scan_inclusive_logical_##OP(int x)                                  \
    {                                                                                                                  \
        return __lockstep_collective_inclusive_##OP##_int(x != 0);                                                     \
    }                                                                                                                  \
    OVL int __attribute__((convergent)) work_group_scan_exclusive_logical_##OP(int x)                                  \
    {                                                                                                                  \
        return __lockstep_collective_exclusive_##OP##_int(x != 0) & 1;                                                 \
    }
LOGICAL(and)
LOGICAL(or)
LOGICAL(xor)

OVL int __attribute__((convergent)) work_group_all(int x) { return __lockstep_collective_reduce_and_int(x != 0); }
OVL int __attribute__((convergent)) work_group_any(int x) { return __lockstep_collective_reduce_or_int(x != 0); }

#define TO_HALF(x) as_half((short)(x))
BROADCAST(int, int, as_int, as_int)
BROADCAST(uint, int, as_int, as_uint)
BROADCAST(long, long, as_long, as_long)
BROADCAST(ulong, long, as_long, as_ulong)
BROADCAST(half, int, as_short, TO_HALF)
BROADCAST(float, int, as_int, as_float)
BROADCAST(double, long, as_long, as_double)
