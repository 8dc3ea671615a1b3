// 6.15.2 Math functions that are an instruction or a few: rounding, signs, comparisons. Compiled once for each type.
#include "math.h"

#define SIMPLE(T, N)                                                                                                   \
    OVL T##N fabs(T##N x) { return __builtin_elementwise_abs(x); }                                                     \
    OVL T##N ceil(T##N x) { return __builtin_elementwise_ceil(x); }                                                    \
    OVL T##N floor(T##N x) { return __builtin_elementwise_floor(x); }                                                  \
    OVL T##N trunc(T##N x) { return __builtin_elementwise_trunc(x); }                                                  \
    OVL T##N rint(T##N x) { return __builtin_elementwise_rint(x); }                                                    \
    OVL T##N round(T##N x) { return __builtin_elementwise_round(x); }                                                  \
    OVL T##N copysign(T##N x, T##N y) { return __builtin_elementwise_copysign(x, y); }                                 \
    OVL T##N fmin(T##N x, T##N y) { return y != y ? x : x < y ? x : x != x ? y : y; }                                  \
    OVL T##N fmax(T##N x, T##N y) { return y != y ? x : x > y ? x : x != x ? y : y; }                                  \
    OVL T##N maxmag(T##N x, T##N y)                                                                                    \
    {                                                                                                                  \
        T##N ax = __builtin_elementwise_abs(x), ay = __builtin_elementwise_abs(y);                                     \
        return ax > ay ? x : ay > ax ? y : fmax(x, y);                                                                 \
    }                                                                                                                  \
    OVL T##N minmag(T##N x, T##N y)                                                                                    \
    {                                                                                                                  \
        T##N ax = __builtin_elementwise_abs(x), ay = __builtin_elementwise_abs(y);                                     \
        return ax < ay ? x : ay < ax ? y : fmin(x, y);                                                                 \
    }                                                                                                                  \
    OVL T##N fdim(T##N x, T##N y) { return x <= y ? (T##N)(T)0 : x - y; }                                              \
    OVL T##N mad(T##N a, T##N b, T##N c)                                                                               \
    {                                                                                                                  \
        _Pragma("clang fp contract(on)") return a *b + c;                                                              \
    }                                                                                                                  \
    OVL T##N nan(CAT(UNSIGNED(T), N) code)                                                                             \
    {                                                                                                                  \
        typedef CAT(UNSIGNED(T), N) U;                                                                                 \
        return __builtin_astype((U)((code & (U)NAN_PAYLOAD_##T) | (U)NAN_BITS_##T), T##N);                             \
    }                                                                                                                  \
    OVL T##N nextafter(T##N x, T##N y)                                                                                 \
    {                                                                                                                  \
        /* order the bit patterns as integers, move by one, and go back */                                             \
        typedef CAT(SIGNED(T), N) I;                                                                                   \
        I bits = __builtin_astype(x, I), lowest = (I)LOWEST_##T;                                                       \
        I ordered = bits < (I)0 ? lowest - bits : bits;                                                                \
        I next = ordered + (x < y ? (I)1 : (I)-1);                                                                     \
        I back = next < (I)0 ? lowest - next : next == (I)0 ? bits & lowest : next;                                    \
        T##N moved = __builtin_astype(back, T##N);                                                                     \
        return x != x ? x : y != y ? y : x == y ? y : moved;                                                           \
    }
#define LOWEST_half ((short)0x8000)
#define LOWEST_float INT_MIN
#define LOWEST_double LONG_MIN
#define NAN_PAYLOAD_half ((ushort)0x01ff)
#define NAN_PAYLOAD_float 0x003fffffu
#define NAN_PAYLOAD_double 0x0007ffffffffffffUL
#define NAN_BITS_half ((ushort)0x7e00)
#define NAN_BITS_float 0x7fc00000u
#define NAN_BITS_double 0x7ff8000000000000UL
FOR_FLOATS(FOR_LENGTHS, SIMPLE)

#define SCALAR_SECOND(T, N)                                                                                            \
    OVL T##N fmin(T##N x, T y) { return fmin(x, (T##N)y); }                                                            \
    OVL T##N fmax(T##N x, T y) { return fmax(x, (T##N)y); }
FOR_FLOATS(FOR_VECTORS, SCALAR_SECOND)
