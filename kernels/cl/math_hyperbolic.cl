// 6.15.2 Hyperbolic functions and their inverses: float by way of exp(x)-1 and log(1+x), which keep small results.
#include "float_math.h"

OVL float sinh(float x)
{
    double m = expm1_core(__builtin_elementwise_abs((double)x));
    double v = 0.5 * (m + m / (m + 1.0));
    return (float)__builtin_elementwise_copysign(v, (double)x);
}
OVL float cosh(float x)
{
    double e = exp_core(__builtin_elementwise_abs((double)x));
    return (float)(0.5 * (e + 1.0 / e));
}
OVL float tanh(float x)
{
    double m = expm1_core(bounded(2.0 * __builtin_elementwise_abs((double)x), 80.0));
    return (float)__builtin_elementwise_copysign(m / (m + 2.0), (double)x);
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
