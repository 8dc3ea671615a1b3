// 6.15.2 Exponentials and logarithms of float and half.
#include "float_math.h"

// exp, exp2 and log are what kernels call most, so they stay in float, with twice the lanes that double has: at most 1.0,
// 1.0 and 0.82 ulp from the exact value, measured over every 61st float.

// ln2 in two parts; a product of the first with a number of 8 bits is exact.
#define LN2_HIGH 0x1.62e4p-1f
#define LN2_LOW 0x1.7f7d1cp-20f
#define FLOAT_ROUNDER 0x1.8p23f

// (exp(r)-1-r)/r^2 in float: [-0.350039, 0.350039], error 2^-27.6
INL float poly_exp_rest(float x)
{
    float p = 0x1.6a1a6cp-10f;
    p = mul_add(p, x, 0x1.123fc6p-7f);
    p = mul_add(p, x, 0x1.555916p-5f);
    p = mul_add(p, x, 0x1.55548ap-3f);
    p = mul_add(p, x, 0x1.fffffcp-2f);
    return p;
}

// (log(1+f)-f+f^2/2)/f^3 in float: [-0.333433, 0.333433], error 2^-27.5
INL float poly_log_rest(float x)
{
    float p = -0x1.08104ap-3f;
    p = mul_add(p, x, 0x1.1e7148p-3f);
    p = mul_add(p, x, -0x1.f30ccep-4f);
    p = mul_add(p, x, 0x1.1ed524p-3f);
    p = mul_add(p, x, -0x1.559dfp-3f);
    p = mul_add(p, x, 0x1.99d044p-3f);
    p = mul_add(p, x, -0x1.fffefp-3f);
    p = mul_add(p, x, 0x1.555506p-2f);
    return p;
}

// exp(r) times the power of two that `shifted` counts in its low bits: in two factors, as the result may be denormal or
// the power beyond what float has.
INL float exp_scaled(float r, float shifted)
{
    float p = mul_add(poly_exp_rest(r), r * r, r);
    int exponent = as_int(shifted) - as_int(FLOAT_ROUNDER);
    int half_of_it = exponent >> 1;
    float scale = as_float((half_of_it + 127) << 23);
    return mul_add(p, scale, scale) * as_float((exponent - half_of_it + 127) << 23);
}

OVL float exp(float x)
{
    float t = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;
    float shifted = mul_add(t, 0x1.715476p+0f, FLOAT_ROUNDER);
    float n = shifted - FLOAT_ROUNDER;
    return exp_scaled(mul_add(-n, LN2_LOW, mul_add(-n, LN2_HIGH, t)), shifted);
}
OVL float exp2(float x)
{
    float t = x < -151.0f ? -151.0f : x > 129.0f ? 129.0f : x;
    float shifted = t + FLOAT_ROUNDER;
    return exp_scaled((t - (shifted - FLOAT_ROUNDER)) * 0x1.62e43p-1f, shifted);
}
OVL float exp10(float x)
{
    double scale;
    double t = bounded((double)x, 100.0) * LN10;
    double p = exp_parts(t, &scale);
    return (float)mul_add(scale, p, scale);
}
OVL float expm1(float x) { return x == 0.0f ? x : (float)expm1_core((double)x); }
// x = 2^n (1 + f) with 1 + f between 2/3 and 4/3.
OVL float log(float x)
{
    int denormal = x < 0x1p-126f;
    int bits = as_int(denormal ? x * 0x1p23f : x);
    int exponent = (bits - 0x3f2aaaab) >> 23;
    float f = as_float(bits - (exponent << 23)) - 1.0f;
    float n = (float)(denormal ? exponent - 23 : exponent);
    float square = f * f;
    float r = mul_add(n, LN2_LOW, square * (f * poly_log_rest(f)));
    r = mul_add(n, LN2_HIGH, f + mul_add(-0.5f, square, r));
    r = x > 0.0f ? r : x == 0.0f ? -INFINITY : NAN;
    return x == INFINITY ? x : r;
}
OVL float log2(float x) { return (float)log2_core((double)x); }
OVL float log10(float x) { return (float)log10_core((double)x); }
OVL float log1p(float x) { return (float)log1p_core((double)x); }

FLOAT_AND_HALF1(exp)
FLOAT_AND_HALF1(exp2)
FLOAT_AND_HALF1(exp10)
FLOAT_AND_HALF1(expm1)
FLOAT_AND_HALF1(log)
FLOAT_AND_HALF1(log2)
FLOAT_AND_HALF1(log10)
FLOAT_AND_HALF1(log1p)
