// What the chapters on work-group functions share.
#ifndef LOCKSTEP_COLLECTIVE_H
#define LOCKSTEP_COLLECTIVE_H

#include "lockstep.h"

#define COLLECTIVE(PRE, OP, T)                                                                                   \
    __attribute__((convergent)) T __lockstep_collective_reduce_##PRE##OP##_##T(T x);                                        \
    __attribute__((convergent)) T __lockstep_collective_inclusive_##PRE##OP##_##T(T x);                                     \
    __attribute__((convergent)) T __lockstep_collective_exclusive_##PRE##OP##_##T(T x);                                     \
    OVL T __attribute__((convergent)) work_group_reduce_##OP(T x)                                                      \
    {                                                                                                                  \
        return __lockstep_collective_reduce_##PRE##OP##_##T(x);                                                             \
    }                                                                                                                  \
    OVL T __attribute__((convergent)) work_group_scan_inclusive_##OP(T x)                                              \
    {                                                                                                                  \
        return __lockstep_collective_inclusive_##PRE##OP##_##T(x);                                                          \
    }                                                                                                                  \
    OVL T __attribute__((convergent)) work_group_scan_exclusive_##OP(T x)                                              \
    {                                                                                                                  \
        return __lockstep_collective_exclusive_##PRE##OP##_##T(x);                                                          \
    }
// What adds and what compares values of a type has a letter before its name.
#define COLLECTIVES(ADD, ORDER, T)                                                                                     \
    COLLECTIVE(ADD, add, T) COLLECTIVE(ORDER, min, T) COLLECTIVE(ORDER, max, T)

// cl_khr_work_group_uniform_arithmetic
#define PRODUCTS(ADD, T) COLLECTIVE(ADD, mul, T)
#define BITWISE(T) COLLECTIVE(, and, T) COLLECTIVE(, or, T) COLLECTIVE(, xor, T)

// All work-items but one give zeros.
#define BROADCAST(T, BITS, AS_BITS, AS_T)                                                                              \
    OVL T __attribute__((convergent)) work_group_broadcast(T v, size_t x, size_t y, size_t z)                          \
    {                                                                                                                  \
        bool own = __lockstep_local_id(0) == x & __lockstep_local_id(1) == y & __lockstep_local_id(2) == z;            \
        return AS_T(__lockstep_collective_reduce_or_##BITS(own ? AS_BITS(v) : 0));                                          \
    }                                                                                                                  \
    OVL T __attribute__((convergent)) work_group_broadcast(T v, size_t x, size_t y)                                    \
    {                                                                                                                  \
        return work_group_broadcast(v, x, y, 0);                                                                       \
    }                                                                                                                  \
    OVL T __attribute__((convergent)) work_group_broadcast(T v, size_t x) { return work_group_broadcast(v, x, 0, 0); }

#endif
