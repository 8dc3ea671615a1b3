// 6.15.2 Hyperbolic functions and their inverses: float by way of exp(x)-1 and log(1+x), which keep small results.
#include "float_math.h"
#include "single.h"

// In float, where 2^-12 and less is what the functions themselves are.
OVL float sinh(float x)
{
    float a = __builtin_elementwise_abs(x);
    float q = quarter_exp(a > 89.5f ? 89.5f : a, 0.25f);
    float v = 2.0f * (q + q / mul_add(4.0f, q, 1.0f));
    return a < 0x1p-12f ? x : __builtin_elementwise_copysign(v, x);
}
OVL float cosh(float x)
{
    float a = __builtin_elementwise_abs(x);
    float q = quarter_exp(a > 89.5f ? 89.5f : a, 0.0f);
    return 2.0f * (q + 0.0625f / q);
}
OVL float tanh(float x)
{
    float a = __builtin_elementwise_abs(x);
    float q = quarter_exp(a > 10.0f ? 20.0f : 2.0f * a, 0.25f);
    return a < 0x1p-12f ? x : __builtin_elementwise_copysign(q / (q + 0.5f), x);
}
OVL float asinh(float x)
{
    double a = __builtin_elementwise_abs((double)x);
    double v = log1p_core(a + a * a / (1.0 + __builtin_elementwise_sqrt(a * a + 1.0)));
    return (float)(is_inf(x) ? (double)x : __builtin_elementwise_copysign(v, (double)x));
}
OVL float acosh(float x)
{
    double t = (double)x - 1.0;
    double v = log1p_core(t + __builtin_elementwise_sqrt(t * t + 2.0 * t));
    return (float)(t < 0.0 ? (double)NAN : v);
}
OVL float atanh(float x)
{
    double a = __builtin_elementwise_abs((double)x);
    double v = 0.5 * log1p_core(2.0 * a / (1.0 - a));
    return (float)(a > 1.0 ? (double)NAN : __builtin_elementwise_copysign(v, (double)x));
}

FLOAT_AND_HALF1(sinh)
FLOAT_AND_HALF1(cosh)
FLOAT_AND_HALF1(tanh)
FLOAT_AND_HALF1(asinh)
FLOAT_AND_HALF1(acosh)
FLOAT_AND_HALF1(atanh)
