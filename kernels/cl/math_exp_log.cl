// 6.15.2 Exponentials and logarithms.
#include "float_math.h"

OVL float exp(float x) { return (float)exp_core((double)x); }
OVL float exp2(float x) { return (float)exp2_core((double)x); }
OVL float exp10(float x)
{
    double scale;
    double t = bounded((double)x, 100.0) * LN10;
    double p = exp_parts(t, &scale);
    return (float)mul_add(scale, p, scale);
}
OVL float expm1(float x) { return x == 0.0f ? x : (float)expm1_core((double)x); }
OVL float log(float x) { return (float)log_core((double)x); }
OVL float log2(float x) { return (float)log2_core((double)x); }
OVL float log10(float x) { return (float)log10_core((double)x); }
OVL float log1p(float x) { return (float)log1p_core((double)x); }

#define DOUBLE_FROM_LIBM(F)                                                                                            \
    OVL double F(double x) { return __lockstep_libm_##F(x); }                                                          \
    GENERIC1(F)
DOUBLE_FROM_LIBM(exp)
DOUBLE_FROM_LIBM(exp2)
DOUBLE_FROM_LIBM(exp10)
DOUBLE_FROM_LIBM(expm1)
DOUBLE_FROM_LIBM(log)
DOUBLE_FROM_LIBM(log2)
DOUBLE_FROM_LIBM(log10)
DOUBLE_FROM_LIBM(log1p)
