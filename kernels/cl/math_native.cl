// 6.15.2 half_ and native_ functions: float arithmetic only, with polynomials of 18 to 20 bits, which take fewer steps than
// the plain functions do. The half_ forms may be off by 8192 ulp, the native_ ones by what the device likes; here they
// share one implementation, which is right at zeros, infinities and NaN too. Coefficients: coefficients/minimax.py.
#include "math.h"

// native (2^r-1)/r: [-0.5, 0.5], error 2^-18.4
INL float poly_exp2_rest(float x)
{
    float p = 0x1.3a02d0p-7f;
    p = mul_add(p, x, 0x1.c9fc48p-5f);
    p = mul_add(p, x, 0x1.ec0378p-3f);
    p = mul_add(p, x, 0x1.62e12cp-1f);
    return p;
}

// native log2(1+f)/f: [-0.292893, 0.414214], error 2^-19.8
INL float poly_log2(float x)
{
    float p = 0x1.5f7cb8p-3f;
    p = mul_add(p, x, -0x1.13c8bap-2f);
    p = mul_add(p, x, 0x1.2ecbdep-2f);
    p = mul_add(p, x, -0x1.6fff1ep-2f);
    p = mul_add(p, x, 0x1.ec296cp-2f);
    p = mul_add(p, x, -0x1.715692p-1f);
    p = mul_add(p, x, 0x1.71548ep+0f);
    return p;
}

// native sin(r)/r by r^2: [0, 2.47234], error 2^-20.0
INL float poly_sin(float x)
{
    float p = -0x1.83aaf6p-13f;
    p = mul_add(p, x, 0x1.105c8ap-7f);
    p = mul_add(p, x, -0x1.554f76p-3f);
    p = mul_add(p, x, 0x1.ffffe0p-1f);
    return p;
}

// native tan(r)/r by r^2: [0, 0.618085], error 2^-18.2
INL float poly_tan(float x)
{
    float p = 0x1.6789b4p-5f;
    p = mul_add(p, x, 0x1.4a5820p-5f);
    p = mul_add(p, x, 0x1.17a2e6p-3f);
    p = mul_add(p, x, 0x1.55123cp-2f);
    p = mul_add(p, x, 0x1.000036p+0f);
    return p;
}

// Adding this rounds to the nearest integer and leaves that integer in the low bits of the pattern.
#define ROUNDER 0x1.8p23f

INL float fast_exp2(float x)
{
    float shifted = x + ROUNDER;
    float r = x - (shifted - ROUNDER);
    // Into the exponent's bits: next to -126 the polynomial is not below 1 and next to 128 it is. Beyond them the bits
    // mean nothing, and are not taken.
    float v = as_float(as_int(mul_add(r, poly_exp2_rest(r), 1.0f)) + (as_int(shifted) << 23));
    // NaN is not below 128 and stays one. All is computed before it is chosen: that makes no branches.
    float beyond = x + INFINITY;
    v = x < 128.0f ? v : beyond;
    return x < -126.0f ? 0.0f : v;
}
// For positive normal x.
INL float fast_log2_of(float x)
{
    int bits = as_int(x);
    int exponent = (bits - 0x3f3504f3) >> 23;
    float f = as_float(bits - (exponent << 23)) - 1.0f;
    return mul_add(f, poly_log2(f), (float)exponent);
}
INL float fast_log2(float x)
{
    float v = fast_log2_of(x);
    if (!is_ordinary(x)) {
        v = fast_log2_of(x * 0x1p24f) - 24.0f;
        v = x > 0.0f ? v : x == 0.0f ? -INFINITY : NAN;
        v = x == INFINITY ? x : v;
    }
    return v;
}
// x minus k pi, for k a multiple of one half below 2^16: pi in three parts, the first two short enough for exact products.
INL float minus_multiple(float x, float k)
{
    float r = mul_add(-k, 0x1.92p+1f, x);
    r = mul_add(-k, 0x1.fbp-11f, r);
    return mul_add(-k, 0x1.5110b4p-21f, r);
}
// Behind the arguments for which the reduction is right the polynomial gives anything, but not NaN.
INL float in_unit(float x)
{
    x = x > 1.0f ? 1.0f : x;
    return x < -1.0f ? -1.0f : x;
}
INL float fast_sin(float x)
{
    float shifted = mul_add(x, 0x1.45f306p-2f, ROUNDER);
    float r = minus_multiple(x, shifted - ROUNDER);
    float v = in_unit(r * poly_sin(r * r));
    return as_int(shifted) & 1 ? -v : v;
}
INL float fast_cos(float x)
{
    float shifted = mul_add(x, 0x1.45f306p-2f, -0.5f) + ROUNDER;
    float r = minus_multiple(x, (shifted - ROUNDER) + 0.5f);
    float v = in_unit(r * poly_sin(r * r));
    return as_int(shifted) & 1 ? v : -v;
}
INL float fast_tan(float x)
{
    float shifted = mul_add(x, 0x1.45f306p-1f, ROUNDER);
    float r = minus_multiple(x, (shifted - ROUNDER) * 0.5f);
    float t = r * poly_tan(r * r);
    int odd = as_int(shifted) & 1;
    return (odd ? -1.0f : t) / (odd ? t : 1.0f);
}
INL float fast_powr(float x, float y)
{
    float l = fast_log2(x);
    return fast_exp2(y == 0.0f && l - l == 0.0f ? 0.0f : y * l);
}

// With leave to take reciprocals, gangs estimate roots and quotients where the machine can. The reciprocal of a divisor
// beyond 2^126 may count as zero then, as it would be denormal, and that of a denormal one as infinity.
INL float rough_sqrt(float x)
{
#pragma clang fp reciprocal(on)
    return __builtin_elementwise_sqrt(x);
}
INL float rough_divide(float x, float y)
{
#pragma clang fp reciprocal(on)
    return x / y;
}
OVL float native_divide(float x, float y) { return rough_divide(x, y); }
// Quotients by such divisors may be normal numbers, and telling them apart takes as long as dividing.
OVL float half_divide(float x, float y) { return x / y; }

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
    OVL float PREFIX##_tan(float x) { return fast_tan(x); }                                                            \
    OVL float PREFIX##_powr(float x, float y) { return fast_powr(x, y); }                                              \
    OVL float PREFIX##_sqrt(float x) { return rough_sqrt(x); }                                                         \
    OVL float PREFIX##_rsqrt(float x) { return 1.0f / __builtin_elementwise_sqrt(x); }                                 \
    OVL float PREFIX##_recip(float x) { return rough_divide(1.0f, x); }                                                \
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
