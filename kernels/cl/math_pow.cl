// 6.15.2 Powers and roots.
#include "float_math.h"

// --- float ----------------------------------------------------------------------------------------------------------
// |x|^y of floats, y given in double: an int exponent is exact there.
INL double magnitude_power(double ax, double y)
{
    double r = exp2_core(y * log2_core(ax));
    return y == 0.0 || ax == 1.0 ? 1.0 : r;
}
INL int is_integer(double y) { return __builtin_elementwise_trunc(y) == y; }
INL int is_odd(double y) { return is_integer(y) && !is_integer(y * 0.5); }

INL double power(double x, double y)
{
    double r = magnitude_power(__builtin_elementwise_abs(x), y);
    r = is_odd(y) ? __builtin_elementwise_copysign(r, x) : r;
    r = x < 0.0 && !is_inf(x) && !is_integer(y) ? (double)NAN : r;
    // 1 to any power and anything to the power 0 are 1 even with NaN; otherwise NaN stays.
    return x == 1.0 || y == 0.0 ? 1.0 : x != x || y != y ? (double)NAN : r;
}
OVL float pow(float x, float y) { return (float)power((double)x, (double)y); }
OVL float pown(float x, int n) { return (float)power((double)x, (double)n); }

OVL float rootn(float x, int n)
{
    double ax = __builtin_elementwise_abs((double)x);
    double r = exp2_core(log2_core(ax) / (double)n);
    r = n & 1 ? __builtin_elementwise_copysign(r, (double)x) : r;
    return n == 0 || (x < 0.0f && !(n & 1)) ? NAN : (float)r;
}
OVL float cbrt(float x)
{
    double r = exp2_core(log2_core(__builtin_elementwise_abs((double)x)) * (1.0 / 3.0));
    return is_inf(x) || x == 0.0f ? x : (float)__builtin_elementwise_copysign(r, (double)x);
}

// --- double ---------------------------------------------------------------------------------------------------------
// |x| = m 2^(3q) with m in [1, 8): a root good to float's precision and one step of Newton's method, whose residual
// is exact but for its last rounding.
OVL double cbrt(double x)
{
    int e = exponent_of(x) + 3 * 400;
    int q = e / 3;
    double m = __builtin_elementwise_abs(significand_of(x)) * power_of_two(e - 3 * q);
    double t = exp2_core(log2_core(m) * (1.0 / 3.0));
    double square = t * t;
    double rest = __builtin_elementwise_fma(t, t, -square);
    double residual = __builtin_elementwise_fma(-square, t, m) - rest * t;
    double r = (t + residual / (3.0 * square)) * power_of_two(q - 400);
    return is_inf(x) || x == 0.0 || x != x ? x : __builtin_elementwise_copysign(r, x);
}
OVL double pow(double x, double y) { return __lockstep_libm_pow(x, y); }
OVL double pown(double x, int n) { return __lockstep_libm_pow(x, (double)n); }

// 1/n as a double and the part that the double lost; the lost part matters where the logarithm is large.
OVL double rootn(double x, int n)
{
    double d = (double)n;
    double ax = __builtin_elementwise_abs(x);
    double y = 1.0 / d;
    double lost = __builtin_elementwise_fma(-y, d, 1.0) / d;
    double r = __lockstep_libm_pow(ax, y);
    double correction = lost * __lockstep_libm_log(ax);
    r = ax > 0.0 && !is_inf(ax) && !is_inf(r) ? r + r * correction : r;
    int odd = n & 1;
    r = odd ? __builtin_elementwise_copysign(r, x) : r;
    return n == 0 || (x < 0.0 && !odd) ? (double)NAN : r;
}

// --- both -----------------------------------------------------------------------------------------------------------
// powr is exp(y*log(x)): no negative base, and NaN where the product 0*inf would appear.
#define POWR(T)                                                                                                        \
    OVL T powr(T x, T y)                                                                                               \
    {                                                                                                                  \
        T r = pow(__builtin_elementwise_abs(x), y);                                                                    \
        int undefined = x < (T)0 || x != x || y != y || (y == (T)0 && (x == (T)0 || is_inf(x))) ||                     \
                        (x == (T)1 && is_inf(y));                                                                      \
        return undefined ? (T)NAN : r;                                                                                 \
    }
POWR(float)
POWR(double)

GENERIC1(cbrt)
GENERIC2(pow)
GENERIC2(powr)

#define WITH_INT(F)                                                                                                    \
    OVL half F(half x, int n) { return (half)F((float)x, n); }                                                         \
    MAP2(float, F, float, int)                                                                                         \
    MAP2(double, F, double, int)                                                                                       \
    MAP2(half, F, half, int)
WITH_INT(pown)
WITH_INT(rootn)
