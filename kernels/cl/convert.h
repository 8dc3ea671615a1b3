// Scalar conversions with a rounding mode, shared by the conversions and vstore_half.
#ifndef LOCKSTEP_CONVERT_H
#define LOCKSTEP_CONVERT_H
#include "lockstep.h"

// The neighbouring representable value; the sign of a zero does not matter.
#define NEIGHBOURS(T, I, SIGN_BIT)                                                                                     \
    INL T step_up(T x)                                                                                                 \
    {                                                                                                                  \
        I i = __builtin_astype(x, I);                                                                                  \
        return __builtin_astype((I)(x == (T)0 ? (I)1 : i < 0 ? i - 1 : i + 1), T);                                     \
    }                                                                                                                  \
    INL T step_down(T x)                                                                                               \
    {                                                                                                                  \
        I i = __builtin_astype(x, I);                                                                                  \
        return __builtin_astype((I)(x == (T)0 ? (I)(SIGN_BIT | 1) : i < 0 ? i + 1 : i - 1), T);                        \
    }                                                                                                                  \
    INL T step_to_zero(T x) { return __builtin_astype((I)(__builtin_astype(x, I) - 1), T); }
NEIGHBOURS(half, short, 0x8000)
NEIGHBOURS(float, int, 0x80000000)
NEIGHBOURS(double, long, 0x8000000000000000L)

// A value rounded to nearest in a narrower type, moved to where another mode puts it. NaN compares false and stays.
#define NARROW(D, S, NAME)                                                                                             \
    INL D NAME##_rtp(S x)                                                                                              \
    {                                                                                                                  \
        D r = NAME##_rte(x);                                                                                           \
        return (S)r < x ? step_up(r) : r;                                                                              \
    }                                                                                                                  \
    INL D NAME##_rtn(S x)                                                                                              \
    {                                                                                                                  \
        D r = NAME##_rte(x);                                                                                           \
        return (S)r > x ? step_down(r) : r;                                                                            \
    }                                                                                                                  \
    INL D NAME##_rtz(S x)                                                                                              \
    {                                                                                                                  \
        D r = NAME##_rte(x);                                                                                           \
        return __builtin_fabs((double)r) > __builtin_fabs((double)x) ? step_to_zero(r) : r;                            \
    }

INL float to_float_rte(double x) { return (float)x; }
NARROW(float, double, to_float)

INL half to_half_rte(float x) { return (half)x; }
NARROW(half, float, to_half)

// Round to odd on the way through float, so that the second rounding sees whether the first one lost something.
INL half to_half_rte(double x)
{
    float toward_zero = to_float_rtz(x);
    int odd = (double)toward_zero != x && x == x;
    return (half)as_float(as_int(toward_zero) | odd);
}
NARROW(half, double, to_half)

INL float to_float(double x) { return to_float_rte(x); }
INL half to_half(float x) { return to_half_rte(x); }
INL half to_half(double x) { return to_half_rte(x); }

#endif
