// 6.15.2 half_ and native_ functions: float arithmetic only, with polynomials of about float's own precision. The
// half_ forms may be off by 8192 ulp, the native_ ones by what the device likes; here they share one implementation,
// which is right at zeros, infinities and NaN too. Coefficients: coefficients/minimax.py.
#include "math.h"

// native 2^r: [-0.5, 0.5], error 2^-22.6
INL float poly_exp2(float x)
{
    float p = 0x1.5c08e4p-10f;
    p = mul_add(p, x, 0x1.3d0c52p-7f);
    p = mul_add(p, x, 0x1.c6b6e4p-5f);
    p = mul_add(p, x, 0x1.ebf918p-3f);
    p = mul_add(p, x, 0x1.62e428p-1f);
    p = mul_add(p, x, 0x1.000002p+0f);
    return p;
}

// native log2(1+f)/f: [-0.292893, 0.414214], error 2^-22.1
INL float poly_log2(float x)
{
    float p = -0x1.2a9f72p-3f;
    p = mul_add(p, x, 0x1.df51bap-3f);
    p = mul_add(p, x, -0x1.fdb328p-3f);
    p = mul_add(p, x, 0x1.25fd32p-2f);
    p = mul_add(p, x, -0x1.70e2a8p-2f);
    p = mul_add(p, x, 0x1.ec7724p-2f);
    p = mul_add(p, x, -0x1.715528p-1f);
    p = mul_add(p, x, 0x1.715474p+0f);
    return p;
}

// native sin(r)/r by r^2: [0, 2.47234], error 2^-26.9
INL float poly_sin(float x)
{
    float p = 0x1.5da0c6p-19f;
    p = mul_add(p, x, -0x1.9f6c7cp-13f);
    p = mul_add(p, x, 0x1.110ebp-7f);
    p = mul_add(p, x, -0x1.55554ap-3f);
    p = mul_add(p, x, 0x1.p+0f);
    return p;
}

// Adding this rounds to the nearest integer and leaves that integer in the low bits of the pattern.
#define ROUNDER 0x1.8p23f

INL float fast_exp2(float x)
{
    float t = x < -126.0f ? -126.0f : x > 128.0f ? 128.0f : x;
    float shifted = t + ROUNDER;
    float r = t - (shifted - ROUNDER);
    // Into the exponent's bits: next to -126 the polynomial is not below 1 and next to 128 it is.
    float v = as_float(as_int(poly_exp2(r)) + (as_int(shifted) << 23));
    // NaN is not below 128 and stays one.
    return x < -126.0f ? 0.0f : x < 128.0f ? v : x + INFINITY;
}
INL float fast_log2(float x)
{
    float scaled = x < 0x1p-126f ? x * 0x1p24f : x;
    int bits = as_int(scaled);
    int exponent = (bits - 0x3f3504f3) >> 23;
    float f = as_float(bits - (exponent << 23)) - 1.0f;
    float e = (float)(x < 0x1p-126f ? exponent - 24 : exponent);
    float v = mul_add(f, poly_log2(f), e);
    v = x > 0.0f ? v : x == 0.0f ? -INFINITY : NAN;
    return x == INFINITY ? x : v;
}
// sin(x) for x near k pi, k with half steps for the cosine; pi in three parts, the first two short enough for exact
// products with |k| below 2^16.
INL float near_multiple(float x, float k)
{
    float r = mul_add(-k, 0x1.92p+1f, x);
    r = mul_add(-k, 0x1.fbp-11f, r);
    r = mul_add(-k, 0x1.5110b4p-21f, r);
    return r * poly_sin(r * r);
}
INL float fast_sin(float x)
{
    float shifted = mul_add(x, 0x1.45f306p-2f, ROUNDER);
    float v = near_multiple(x, shifted - ROUNDER);
    return as_int(shifted) & 1 ? -v : v;
}
INL float fast_cos(float x)
{
    float shifted = mul_add(x, 0x1.45f306p-2f, -0.5f) + ROUNDER;
    float v = near_multiple(x, (shifted - ROUNDER) + 0.5f);
    return as_int(shifted) & 1 ? v : -v;
}
INL float fast_powr(float x, float y)
{
    float l = fast_log2(x);
    return fast_exp2(y == 0.0f && l - l == 0.0f ? 0.0f : y * l);
}

#define LOG2_E 0x1.715476p+0f
#define LOG2_10 0x1.a934fp+1f
#define LN2 0x1.62e43p-1f
#define LOG10_2 0x1.344136p-2f

#define FORMS(PREFIX)                                                                                                  \
    OVL float PREFIX##_exp2(float x) { return fast_exp2(x); }                                                          \
    OVL float PREFIX##_exp(float x) { return fast_exp2(x * LOG2_E); }                                                  \
    OVL float PREFIX##_exp10(float x) { return fast_exp2(x * LOG2_10); }                                               \
    OVL float PREFIX##_log2(float x) { return fast_log2(x); }                                                          \
    OVL float PREFIX##_log(float x) { return fast_log2(x) * LN2; }                                                     \
    OVL float PREFIX##_log10(float x) { return fast_log2(x) * LOG10_2; }                                               \
    OVL float PREFIX##_sin(float x) { return fast_sin(x); }                                                            \
    OVL float PREFIX##_cos(float x) { return fast_cos(x); }                                                            \
    OVL float PREFIX##_tan(float x) { return fast_sin(x) / fast_cos(x); }                                              \
    OVL float PREFIX##_powr(float x, float y) { return fast_powr(x, y); }                                              \
    OVL float PREFIX##_sqrt(float x) { return __builtin_elementwise_sqrt(x); }                                         \
    OVL float PREFIX##_rsqrt(float x) { return 1.0f / __builtin_elementwise_sqrt(x); }                                 \
    OVL float PREFIX##_recip(float x) { return 1.0f / x; }                                                             \
    OVL float PREFIX##_divide(float x, float y) { return x / y; }                                                      \
    MAP1(float, PREFIX##_exp2, float)                                                                                  \
    MAP1(float, PREFIX##_exp, float)                                                                                   \
    MAP1(float, PREFIX##_exp10, float)                                                                                 \
    MAP1(float, PREFIX##_log2, float)                                                                                  \
    MAP1(float, PREFIX##_log, float)                                                                                   \
    MAP1(float, PREFIX##_log10, float)                                                                                 \
    MAP1(float, PREFIX##_sin, float)                                                                                   \
    MAP1(float, PREFIX##_cos, float)                                                                                   \
    MAP1(float, PREFIX##_tan, float)                                                                                   \
    MAP1(float, PREFIX##_sqrt, float)                                                                                  \
    MAP1(float, PREFIX##_rsqrt, float)                                                                                 \
    MAP1(float, PREFIX##_recip, float)                                                                                 \
    MAP2(float, PREFIX##_powr, float, float)                                                                           \
    MAP2(float, PREFIX##_divide, float, float)
FORMS(native)
FORMS(half)
