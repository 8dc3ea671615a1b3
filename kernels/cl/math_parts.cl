// 6.15.2 Math functions that take a number apart or put it together: exponents, significands, integral parts.
#include "math.h"

// --- ldexp ----------------------------------------------------------------------------------------------------------
// Float: exact in double for any exponent that matters, then one rounding.
OVL float ldexp(float x, int k)
{
    int bounded = k < -400 ? -400 : k > 400 ? 400 : k;
    return (float)((double)x * power_of_two(bounded));
}
// Double: build the result with an exponent that is certainly normal; what is left of the exponent is one exact or
// once-rounded product.
OVL double ldexp(double x, int k)
{
    int bounded = k < -4000 ? -4000 : k > 4000 ? 4000 : k;
    int e = exponent_of(x) + bounded;
    e = e < -1200 ? -1200 : e > 1200 ? 1200 : e;
    int normal = e < -900 ? -900 : e > 900 ? 900 : e;
    double r = significand_of(x) * power_of_two(normal) * power_of_two(e - normal);
    return x == 0.0 || is_inf(x) || x != x ? x : r;
}
OVL half ldexp(half x, int k)
{
    int bounded = k < -60 ? -60 : k > 60 ? 60 : k;
    return (half)((float)x * as_float((bounded + 127) << 23));
}
#define LDEXP(T)                                                                                                       \
    MAP2(T, ldexp, T, int)                                                                                             \
    OVL T##2 ldexp(T##2 x, int k) { return ldexp(x, (int2)k); }                                                        \
    OVL T##3 ldexp(T##3 x, int k) { return ldexp(x, (int3)k); }                                                        \
    OVL T##4 ldexp(T##4 x, int k) { return ldexp(x, (int4)k); }                                                        \
    OVL T##8 ldexp(T##8 x, int k) { return ldexp(x, (int8)k); }                                                        \
    OVL T##16 ldexp(T##16 x, int k) { return ldexp(x, (int16)k); }
LDEXP(float)
LDEXP(double)
LDEXP(half)

// --- ilogb, logb ----------------------------------------------------------------------------------------------------
OVL int ilogb(double x) { return x == 0.0 ? FP_ILOGB0 : is_inf(x) || x != x ? FP_ILOGBNAN : exponent_of(x); }
OVL int ilogb(float x) { return ilogb((double)x); }
OVL int ilogb(half x) { return ilogb((double)x); }
MAP1(int, ilogb, double)
MAP1(int, ilogb, float)
MAP1(int, ilogb, half)

OVL double logb(double x)
{
    return x == 0.0 ? -(double)INFINITY : is_inf(x) ? (double)INFINITY : x != x ? x : (double)exponent_of(x);
}
OVL float logb(float x) { return (float)logb((double)x); }
GENERIC1(logb)

// --- frexp ----------------------------------------------------------------------------------------------------------
OVL double frexp(double x, private int *e)
{
    int special = x == 0.0 || is_inf(x) || x != x;
    *e = special ? 0 : exponent_of(x) + 1;
    return special ? x : significand_of(x) * 0.5;
}
OVL float frexp(float x, private int *e) { return (float)frexp((double)x, e); }
OVL half frexp(half x, private int *e) { return (half)(float)frexp((double)x, e); }
OUT1(double, frexp, double, int)
OUT1(float, frexp, float, int)
OUT1(half, frexp, half, int)

// --- modf, fract ----------------------------------------------------------------------------------------------------
#define PARTS(T, LARGEST_FRACTION)                                                                                     \
    OVL T modf(T x, private T *whole)                                                                                  \
    {                                                                                                                  \
        T t = __builtin_elementwise_trunc(x);                                                                          \
        *whole = t;                                                                                                    \
        return __builtin_elementwise_copysign(is_inf(x) ? (T)0 : x - t, x);                                            \
    }                                                                                                                  \
    OVL T fract(T x, private T *whole)                                                                                 \
    {                                                                                                                  \
        T f = __builtin_elementwise_floor(x);                                                                          \
        T r = x - f;                                                                                                   \
        *whole = f;                                                                                                    \
        /* a tiny negative number is so close below an integer that the difference rounds to one */                    \
        r = r > LARGEST_FRACTION ? LARGEST_FRACTION : r;                                                               \
        return x == (T)0 || is_inf(x) ? __builtin_elementwise_copysign((T)0, x) : r;                                   \
    }
PARTS(float, 0x1.fffffep-1f)
PARTS(double, 0x1.fffffffffffffp-1)
OVL half modf(half x, private half *whole)
{
    float w, f = modf((float)x, &w);
    *whole = (half)w;
    return (half)f;
}
OVL half fract(half x, private half *whole)
{
    float w, f = fract((float)x, &w);
    *whole = (half)w;
    return f > 0x1.ffcp-1f ? (half)0x1.ffcp-1f : (half)f;
}
OUT1(float, modf, float, float)
OUT1(double, modf, double, double)
OUT1(half, modf, half, half)
OUT1(float, fract, float, float)
OUT1(double, fract, double, double)
OUT1(half, fract, half, half)
