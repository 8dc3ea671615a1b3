// 6.15.2 Exponentials and logarithms of float and half.
#include "float_math.h"
#include "single.h"

OVL float exp(float x)
{
    float counted, p = exp_rest(bounded(x, -104.0f, 89.0f), &counted);
    return __lockstep_scaled_float(p, 1.0f, counted);
}
OVL float exp2(float x)
{
    float t = bounded(x, -151.0f, 129.0f);
    float counted = t + COUNT_FLOAT;
    float r = t - (counted - COUNT_FLOAT);
    return __lockstep_scaled_float(mul_add(r, poly_exp2_rest(r), 1.0f), 0.0f, counted);
}
OVL float exp10(float x)
{
    double scale;
    double t = bounded((double)x, 100.0) * LN10;
    double p = exp_parts(t, &scale);
    return (float)mul_add(scale, p, scale);
}
OVL float expm1(float x) { return x == 0.0f ? x : (float)expm1_core((double)x); }
INL float log_of(float f, float n)
{
    float square = f * f;
    float r = mul_add(n, LN2_LOW, square * (f * poly_log_rest(f)));
    return mul_add(n, LN2_HIGH, f + mul_add(-0.5f, square, r));
}
OVL float log(float x)
{
    float n, f = log_split(x, &n);
    float v = log_of(f, n);
    if (!is_ordinary(x)) {
        f = log_split_any(x, &n);
        v = log_every(x, log_of(f, n));
    }
    return v;
}
OVL float log2(float x) { return log_to_base(x, 0x1.715476p+0f, 0x1.4ae0cp-26f, 1.0f, 0.0f); }
OVL float log10(float x) { return log_to_base(x, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344p-2f, 0x1.3509f8p-18f); }
OVL float log1p(float x) { return (float)log1p_core((double)x); }

FLOAT_AND_HALF1(exp)
FLOAT_AND_HALF1(exp2)
FLOAT_AND_HALF1(exp10)
FLOAT_AND_HALF1(expm1)
FLOAT_AND_HALF1(log)
FLOAT_AND_HALF1(log2)
FLOAT_AND_HALF1(log10)
FLOAT_AND_HALF1(log1p)
