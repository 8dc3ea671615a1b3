// 6.15.2 half_ and native_ functions: float arithmetic only, which takes fewer steps than the plain functions do, and
// right at zeros, infinities and NaN. The half_ forms may be off by 8192 ulp: 11 bits are right. The native_ ones may be
// off by what the device likes: here they have polynomials of 18 to 20 bits, roots and quotients of 21, and reciprocal
// roots of 14.
// Coefficients: coefficients/minimax.py.
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

// half (2^r-1)/r: [-0.5, 0.5], error 2^-13.3
INL float poly_half_exp2_rest(float x)
{
    float p = 0x1.c2a21cp-5f;
    p = mul_add(p, x, 0x1.f00c4cp-3f);
    p = mul_add(p, x, 0x1.62f5fap-1f);
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

// half log2(1+f)/f: [-0.292893, 0.414214], error 2^-11.5
INL float poly_half_log2(float x)
{
    float p = -0x1.4fa314p-2f;
    p = mul_add(p, x, 0x1.05c58ap-1f);
    p = mul_add(p, x, -0x1.72d70ep-1f);
    p = mul_add(p, x, 0x1.7138a2p+0f);
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

// half sin(r)/r by r^2: [0, 2.47234], error 2^-13.2
INL float poly_half_sin(float x)
{
    float p = 0x1.f22b1cp-8f;
    p = mul_add(p, x, -0x1.53e162p-3f);
    p = mul_add(p, x, 0x1.fff1bcp-1f);
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

// half tan(r)/r by r^2: [0, 0.618085], error 2^-14.5
INL float poly_half_tan(float x)
{
    float p = 0x1.820a1cp-4f;
    p = mul_add(p, x, 0x1.daab7ap-4f);
    p = mul_add(p, x, 0x1.57a754p-2f);
    p = mul_add(p, x, 0x1.fffa28p-1f);
    return p;
}

// Which form a function is computed for: a constant everywhere.
enum form { NATIVE, HALF };

// Roots and quotients come from the machine's estimates, which may take denormal numbers for zeros. The half_ forms
// take them as they are; the native_ ones add a step of Newton's iteration, which leaves a few units in the last place, but
// for the reciprocal root: the plain function is no more than that step where estimates have 14 bits.

// The factor that a step multiplies an estimate by. At zero and infinity the estimate is right, and the factor is NaN: as
// an integer more than a bound, which costs less than a minimum of floats where these have the units of products.
INL float near_one(float factor)
{
    uint bits = as_uint(factor), bound = as_uint(0x1.004p+0f);
    return as_float(bits < bound ? bits : bound);
}

OVL float half_recip(float x) { return __lockstep_recip_estimate(x); }
OVL float native_recip(float x)
{
    float y = __lockstep_recip_estimate(x);
    return y * near_one(mul_add(-x, y, 2.0f));
}
OVL float half_rsqrt(float x) { return __lockstep_rsqrt_estimate(x); }
OVL float native_rsqrt(float x) { return __lockstep_rsqrt_native(x); }
// Infinity's is infinity, for which its reciprocal root must not be zero. That of zeros and denormal numbers, which
// nothing normal has, counts as zero.
OVL float half_sqrt(float x)
{
    float y = __lockstep_rsqrt_estimate(x);
    y = y < 0x1p-65f ? 0x1p-65f : y;
    return x * (y > 0x1p64f ? 0.0f : y);
}
// By a step of the third order: roots of square numbers are whole, as those who cut them off expect. Infinity and denormal
// numbers as in half_sqrt.
OVL float native_sqrt(float x)
{
    float y = __lockstep_rsqrt_estimate(x);
    y = y < 0x1p-65f ? 0x1p-65f : y;
    y = y > 0x1p64f ? 0.0f : y;
    float root = x * y;
    float wrong = mul_add(-root, y, 1.0f);
    return mul_add(root * wrong, mul_add(wrong, 0.375f, 0.5f), root);
}
OVL float half_divide(float x, float y) { return __lockstep_quotient_estimate(x, y); }
// Here divisors beyond 2^126 have no reciprocal but zero.
OVL float native_divide(float x, float y)
{
    float r = __lockstep_recip_estimate(y);
    return x * r * near_one(mul_add(-r, y, 2.0f));
}

// Adding this rounds to the nearest integer and leaves that integer in the low bits of the pattern.
#define ROUNDER 0x1.8p23f

INL float fast_exp2(float x, enum form form)
{
    // 128 makes the bits of infinity.
    float t = x > 128.0f ? 128.0f : x;
    float shifted = t + ROUNDER;
    float r = t - (shifted - ROUNDER);
    float p = form == HALF ? poly_half_exp2_rest(r) : poly_exp2_rest(r);
    // Into the exponent's bits: next to -126 the polynomial is not below 1 and next to 128 it is. Below -126 and of NaN
    // the bits mean nothing, and are not taken: that is zero, and NaN. All is computed before it is chosen: that makes no
    // branches.
    float v = as_float(as_int(mul_add(r, p, 1.0f)) + (as_int(shifted) << 23));
    float beyond = x < 0.0f ? 0.0f : x;
    return x >= -126.0f ? v : beyond;
}
// For positive normal x.
INL float fast_log2_of(float x, enum form form)
{
    int bits = as_int(x);
    int exponent = (bits - 0x3f3504f3) >> 23;
    float f = as_float(bits - (exponent << 23)) - 1.0f;
    return mul_add(f, form == HALF ? poly_half_log2(f) : poly_log2(f), (float)exponent);
}
INL float fast_log2(float x, enum form form)
{
    float v = fast_log2_of(x, form);
    if (!is_ordinary(x)) {
        v = fast_log2_of(x * 0x1p24f, form) - 24.0f;
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
INL float sin_of_rest(float r, enum form form)
{
    return in_unit(r * (form == HALF ? poly_half_sin(r * r) : poly_sin(r * r)));
}
INL float fast_sin(float x, enum form form)
{
    float shifted = mul_add(x, 0x1.45f306p-2f, ROUNDER);
    float r = minus_multiple(x, shifted - ROUNDER);
    float v = sin_of_rest(r, form);
    return as_int(shifted) & 1 ? -v : v;
}
INL float fast_cos(float x, enum form form)
{
    float shifted = mul_add(x, 0x1.45f306p-2f, -0.5f) + ROUNDER;
    float r = minus_multiple(x, (shifted - ROUNDER) + 0.5f);
    float v = sin_of_rest(r, form);
    return as_int(shifted) & 1 ? v : -v;
}
INL float fast_tan(float x, enum form form)
{
    float shifted = mul_add(x, 0x1.45f306p-1f, ROUNDER);
    float r = minus_multiple(x, (shifted - ROUNDER) * 0.5f);
    float t = r * (form == HALF ? poly_half_tan(r * r) : poly_tan(r * r));
    int odd = as_int(shifted) & 1;
    float inverse = form == HALF ? half_recip(-t) : native_recip(-t);
    return odd ? inverse : t;
}
INL float fast_powr(float x, float y, enum form form)
{
    // A power's bits are those that its exponent has behind the point, and that may be 128.
    float l = fast_log2(x, NATIVE);
    return fast_exp2(y == 0.0f && l - l == 0.0f ? 0.0f : y * l, form);
}

#define LOG2_E 0x1.715476p+0f
#define LOG2_10 0x1.a934fp+1f
#define LN2 0x1.62e43p-1f
#define LOG10_2 0x1.344136p-2f

#define FORMS(PREFIX, FORM)                                                                                            \
    OVL float PREFIX##_exp2(float x) { return fast_exp2(x, FORM); }                                                    \
    OVL float PREFIX##_exp(float x) { return fast_exp2(x * LOG2_E, FORM); }                                            \
    OVL float PREFIX##_exp10(float x) { return fast_exp2(x * LOG2_10, FORM); }                                         \
    OVL float PREFIX##_log2(float x) { return fast_log2(x, FORM); }                                                    \
    OVL float PREFIX##_log(float x) { return fast_log2(x, FORM) * LN2; }                                               \
    OVL float PREFIX##_log10(float x) { return fast_log2(x, FORM) * LOG10_2; }                                         \
    OVL float PREFIX##_sin(float x) { return fast_sin(x, FORM); }                                                      \
    OVL float PREFIX##_cos(float x) { return fast_cos(x, FORM); }                                                      \
    OVL float PREFIX##_tan(float x) { return fast_tan(x, FORM); }                                                      \
    OVL float PREFIX##_powr(float x, float y) { return fast_powr(x, y, FORM); }                                        \
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
FORMS(native, NATIVE)
FORMS(half, HALF)
