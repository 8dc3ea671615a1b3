// 6.15.2 Math functions that are an instruction or a few: rounding, signs, comparisons, fused multiply-add, roots.
#include "math.h"
#include "convert.h"

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

// --- fma ------------------------------------------------------------------------------------------------------------
#define FMA(T, N)                                                                                                      \
    OVL T##N fma(T##N a, T##N b, T##N c) { return __builtin_elementwise_fma(a, b, c); }
FOR_LENGTHS(FMA, float)
FOR_LENGTHS(FMA, double)

// The product of two halves is exact in double; the sum is rounded to odd there, so that the rounding to half sees
// what was lost.
OVL half fma(half a, half b, half c)
{
    double product = (double)a * (double)b, addend = (double)c;
    double sum = product + addend;
    double back = sum - product;
    double lost = (product - (sum - back)) + (addend - back);
    long bits = as_long(sum);
    int adjust = lost != 0.0 && lost == lost && (bits & 1) == 0;
    bits += !adjust ? 0 : (lost > 0.0) == (sum > 0.0) ? 1 : -1;
    return to_half_rte(as_double(bits));
}
MAP3(half, fma, half, half, half)

// --- roots ----------------------------------------------------------------------------------------------------------
#define ROOTS(T, N)                                                                                                    \
    OVL T##N sqrt(T##N x) { return __builtin_elementwise_sqrt(x); }                                                    \
    OVL T##N rsqrt(T##N x) { return (T##N)(T)1 / __builtin_elementwise_sqrt(x); }
FOR_LENGTHS(ROOTS, float)
FOR_LENGTHS(ROOTS, double)
HALF1(sqrt)
HALF1(rsqrt)

OVL float hypot(float x, float y)
{
    double dx = (double)x, dy = (double)y;
    float r = (float)__builtin_elementwise_sqrt(dx * dx + dy * dy);
    return is_inf(x) || is_inf(y) ? INFINITY : r;
}
OVL double hypot(double x, double y)
{
    double ax = __builtin_elementwise_abs(x), ay = __builtin_elementwise_abs(y);
    double m = ax > ay ? ax : ay;
    double scale = m > 0x1p500 ? 0x1p-540 : m < 0x1p-450 ? 0x1p560 : 1.0;
    double back = m > 0x1p500 ? 0x1p540 : m < 0x1p-450 ? 0x1p-560 : 1.0;
    double sx = x * scale, sy = y * scale;
    double r = __builtin_elementwise_sqrt(sx * sx + sy * sy) * back;
    return is_inf(x) || is_inf(y) ? (double)INFINITY : r;
}
GENERIC2(hypot)
