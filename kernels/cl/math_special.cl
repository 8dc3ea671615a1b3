// 6.15.2 Error and gamma functions of float and half. Coefficients: coefficients/double.py.
#include "double_special.h"

// --- error functions ------------------------------------------------------------------------------------------------
// erf(x)/x-1 by x^2 in float: [0, 0.81], error 2^-25.1
INL float poly_erf_rest(float x)
{
    float p = -0x1.3f4f3cp-11f;
    p = mul_add(p, x, 0x1.4876bcp-8f);
    p = mul_add(p, x, -0x1.b6beep-6f);
    p = mul_add(p, x, 0x1.ce1dd2p-4f);
    p = mul_add(p, x, -0x1.8126fap-2f);
    p = mul_add(p, x, 0x1.06eba6p-3f);
    return p;
}

// -log2(erfc(a)) in float: [0.9, 4], error 2^-27.5
INL float poly_log_erfc(float x)
{
    float p = -0x1.2a4948p-12f;
    p = mul_add(p, x, 0x1.20e66p-8f);
    p = mul_add(p, x, -0x1.074818p-5f);
    p = mul_add(p, x, 0x1.336466p-3f);
    p = mul_add(p, x, 0x1.d69216p-1f);
    p = mul_add(p, x, 0x1.a082fap+0f);
    p = mul_add(p, x, 0x1.0c8e58p-12f);
    return p;
}

// exp(x^2)erfc(x)(x+4) by (x-4)/(x+4): [-1, 0.432624], error 2^-30.2
INL double poly_float_erfc(double x)
{
    double p = -0x1.8d32947095caep-11;
    p = mul_add(p, x, -0x1.9b5e2477fc39ep-12);
    p = mul_add(p, x, 0x1.97517a68cd515p-8);
    p = mul_add(p, x, -0x1.aed1be8bc02dbp-6);
    p = mul_add(p, x, 0x1.38d33979bbf3cp-4);
    p = mul_add(p, x, -0x1.6466cd79488a0p-3);
    p = mul_add(p, x, 0x1.52cab3d7a3f9dp-2);
    p = mul_add(p, x, -0x1.14eaada68221cp-1);
    p = mul_add(p, x, 0x1.8be2039b11acbp-1);
    p = mul_add(p, x, -0x1.f3fe32787e965p-1);
    p = mul_add(p, x, 0x1.18932bf02afd0p+0);
    return p;
}

// native 2^r of math_native.cl: [-0.5, 0.5], error 2^-22.6
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

// In float alone. Where erfc is below 0.21, an error of its logarithm is a small one of erf.
OVL float erf(float x)
{
    float a = __builtin_elementwise_abs(x);
    float b = a > 4.0f ? 4.0f : a;
    float t = -poly_log_erfc(b);
    float shifted = t + 0x1.8p23f;
    float small = poly_exp2(t - (shifted - 0x1.8p23f)) * as_float((as_int(shifted) + 127) << 23);
    float v = a < 0.9f ? mul_add(a, poly_erf_rest(a * a), a) : 1.0f - small;
    return x != x ? x : __builtin_elementwise_copysign(v, x);
}
// exp(-a^2), whose square is exact in double, times what varies slowly.
OVL float erfc(float x)
{
    double a = least(magnitude((double)x), 10.1);
    double inverse = 1.0 / (a + 4.0);
    double v = exp_of(-a * a) * (poly_float_erfc((a - 4.0) * inverse) * inverse);
    return x != x ? x : (float)(x < 0.0f ? 2.0 - v : v);
}

// --- gamma functions ------------------------------------------------------------------------------------------------
OVL float tgamma(float x) { return (float)gamma_of((double)x); }
OVL float lgamma(float x) { return (float)log_gamma((double)x); }
OVL float lgamma_r(float x, private int *sign)
{
    *sign = gamma_sign((double)x);
    return (float)log_gamma((double)x);
}
OVL half lgamma_r(half x, private int *sign) { return (half)lgamma_r((float)x, sign); }

FLOAT_AND_HALF1(erf)
FLOAT_AND_HALF1(erfc)
FLOAT_AND_HALF1(tgamma)
FLOAT_AND_HALF1(lgamma)
OUT1(float, lgamma_r, float, int)
OUT1(half, lgamma_r, half, int)
