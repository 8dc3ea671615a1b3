// 6.15.3 Integer functions but the products: compiled once for each type.
#include "lockstep.h"

#define ABS_SIGNED(T, N)                                                                                               \
    OVL CAT(UNSIGNED(T), N) abs(T##N x) { return __builtin_astype(__builtin_elementwise_abs(x), CAT(UNSIGNED(T), N)); }
FOR_SIGNED(FOR_LENGTHS, ABS_SIGNED)
#define ABS_UNSIGNED(T, N)                                                                                             \
    OVL T##N abs(T##N x) { return x; }
FOR_UNSIGNED(FOR_LENGTHS, ABS_UNSIGNED)

// Both differences wrap; the right one is the distance even where it does not fit in T.
#define ABS_DIFF(T, N)                                                                                                 \
    OVL CAT(UNSIGNED(T), N) abs_diff(T##N x, T##N y)                                                                   \
    {                                                                                                                  \
        typedef CAT(UNSIGNED(T), N) U;                                                                                 \
        U big = __builtin_astype(__builtin_elementwise_max(x, y), U);                                                  \
        U small = __builtin_astype(__builtin_elementwise_min(x, y), U);                                                \
        return big - small;                                                                                            \
    }
FOR_INTEGERS(FOR_LENGTHS, ABS_DIFF)

#define SIMPLE(T, N)                                                                                                   \
    OVL T##N add_sat(T##N x, T##N y) { return __builtin_elementwise_add_sat(x, y); }                                   \
    OVL T##N sub_sat(T##N x, T##N y) { return __builtin_elementwise_sub_sat(x, y); }                                   \
    OVL T##N hadd(T##N x, T##N y) { return (x & y) + ((x ^ y) >> (T##N)1); }                                           \
    OVL T##N rhadd(T##N x, T##N y) { return (x | y) - ((x ^ y) >> (T##N)1); }                                          \
    OVL T##N popcount(T##N x) { return __builtin_elementwise_popcount(x); }                                            \
    OVL T##N max(T##N x, T##N y) { return __builtin_elementwise_max(x, y); }                                           \
    OVL T##N min(T##N x, T##N y) { return __builtin_elementwise_min(x, y); }                                           \
    OVL T##N clamp(T##N x, T##N lo, T##N hi)                                                                           \
    {                                                                                                                  \
        return __builtin_elementwise_min(__builtin_elementwise_max(x, lo), hi);                                        \
    }
FOR_INTEGERS(FOR_LENGTHS, SIMPLE)

#define SCALAR_SECOND(T, N)                                                                                            \
    OVL T##N max(T##N x, T y) { return __builtin_elementwise_max(x, (T##N)y); }                                        \
    OVL T##N min(T##N x, T y) { return __builtin_elementwise_min(x, (T##N)y); }                                        \
    OVL T##N clamp(T##N x, T lo, T hi)                                                                                 \
    {                                                                                                                  \
        return __builtin_elementwise_min(__builtin_elementwise_max(x, (T##N)lo), (T##N)hi);                            \
    }
FOR_INTEGERS(FOR_VECTORS, SCALAR_SECOND)

// Bit counts and rotation look at the bits only.
#define BITS(T, N)                                                                                                     \
    OVL T##N clz(T##N x)                                                                                               \
    {                                                                                                                  \
        typedef CAT(UNSIGNED(T), N) U;                                                                                 \
        return __builtin_astype(__builtin_elementwise_clzg(__builtin_astype(x, U), (U)(sizeof(T) * 8)), T##N);         \
    }                                                                                                                  \
    OVL T##N ctz(T##N x)                                                                                               \
    {                                                                                                                  \
        typedef CAT(UNSIGNED(T), N) U;                                                                                 \
        return __builtin_astype(__builtin_elementwise_ctzg(__builtin_astype(x, U), (U)(sizeof(T) * 8)), T##N);         \
    }                                                                                                                  \
    OVL T##N rotate(T##N x, T##N n)                                                                                    \
    {                                                                                                                  \
        typedef CAT(UNSIGNED(T), N) U;                                                                                 \
        U bits = __builtin_astype(x, U);                                                                               \
        return __builtin_astype(__builtin_elementwise_fshl(bits, bits, __builtin_astype(n, U)), T##N);                 \
    }
FOR_INTEGERS(FOR_LENGTHS, BITS)
