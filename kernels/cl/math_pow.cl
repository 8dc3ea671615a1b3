// 6.15.2 Powers and roots of float and half.
#include "float_math.h"

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

// powr is exp(y*log(x)): no negative base, and NaN where the product 0*inf would appear.
OVL float powr(float x, float y)
{
    float r = pow(__builtin_elementwise_abs(x), y);
    int undefined = x < 0.0f || x != x || y != y || (y == 0.0f && (x == 0.0f || is_inf(x))) || (x == 1.0f && is_inf(y));
    return undefined ? NAN : r;
}

FLOAT_AND_HALF1(cbrt)
FLOAT_AND_HALF2(pow)
FLOAT_AND_HALF2(powr)

#define WITH_INT(F)                                                                                                    \
    OVL half F(half x, int n) { return (half)F((float)x, n); }                                                         \
    MAP2(float, F, float, int)                                                                                         \
    MAP2(half, F, half, int)
WITH_INT(pown)
WITH_INT(rootn)
