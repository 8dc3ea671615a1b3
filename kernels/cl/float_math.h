// Float functions computed in double: one short polynomial each, whose error of about 2^-36 or less leaves the final
// rounding to float as the only error that matters (at most 0.51 ulp). The coefficients come from
// coefficients/minimax.py; the comment at each polynomial says what it approximates, where, and how closely.
//
// No step converts to or from an integer where that could be out of range: NaN and infinities run through the
// arithmetic and come out right or are selected at the end.
#ifndef LOCKSTEP_FLOAT_MATH_H
#define LOCKSTEP_FLOAT_MATH_H
#include "math.h"
#include "two_over_pi.h"

#define LN2 0x1.62e42fefa39efp-1
#define LN10 0x1.26bb1bbb55516p+1
#define LOG2_E 0x1.71547652b82fep+0
#define PI 0x1.921fb54442d18p+1

// Adding this rounds to the nearest integer and leaves that integer in the low bits of the pattern.
#define ROUNDER 0x1.8p52

// (exp(r)-1)/r: [-0.350039, 0.350039], error 2^-37.6
INL double poly_expm1(double x)
{
    double p = 0x1.a019f516b1d2ap-16;
    p = mul_add(p, x, 0x1.a184742d0aa2ap-13);
    p = mul_add(p, x, 0x1.6c17614b38c6dp-10);
    p = mul_add(p, x, 0x1.1110a245c2e33p-7);
    p = mul_add(p, x, 0x1.555554ed008c8p-5);
    p = mul_add(p, x, 0x1.555555809dd3ep-3);
    p = mul_add(p, x, 0x1.000000001cb26p-1);
    p = mul_add(p, x, 0x1.fffffffff575ep-1);
    return p;
}

// log(1+f)/f: [-0.293893, 0.415214], error 2^-38.4
INL double poly_log1p(double x)
{
    double p = -0x1.8ce357ffe94aep-5;
    p = mul_add(p, x, 0x1.7907a7c8ac254p-4);
    p = mul_add(p, x, -0x1.7e86ab968e9b0p-4);
    p = mul_add(p, x, 0x1.71bd6d5e0205fp-4);
    p = mul_add(p, x, -0x1.947e3a59ea059p-4);
    p = mul_add(p, x, 0x1.c6e16c0e08f24p-4);
    p = mul_add(p, x, -0x1.0025284cafd64p-3);
    p = mul_add(p, x, 0x1.2495277b2143fp-3);
    p = mul_add(p, x, -0x1.55544e619237ep-3);
    p = mul_add(p, x, 0x1.999985770ab27p-3);
    p = mul_add(p, x, -0x1.0000019742186p-2);
    p = mul_add(p, x, 0x1.5555556bd444fp-2);
    p = mul_add(p, x, -0x1.fffffffe8b2a3p-2);
    p = mul_add(p, x, 0x1.fffffffffc3c8p-1);
    return p;
}

// sin(r)/r by r^2: [0, 0.629249], error 2^-37.5
INL double poly_sin(double x)
{
    double p = 0x1.6c960d4b1c70fp-19;
    p = mul_add(p, x, -0x1.a00e523397126p-13);
    p = mul_add(p, x, 0x1.1111067ad0640p-7);
    p = mul_add(p, x, -0x1.55555547d9c8dp-3);
    p = mul_add(p, x, 0x1.fffffffff4f08p-1);
    return p;
}

// cos(r) by r^2: [0, 0.629249], error 2^-43.6
INL double poly_cos(double x)
{
    double p = -0x1.23a10da31a812p-22;
    p = mul_add(p, x, 0x1.a00dbd6fe8d92p-16);
    p = mul_add(p, x, -0x1.6c16b1135ad87p-10);
    p = mul_add(p, x, 0x1.5555554182ef1p-5);
    p = mul_add(p, x, -0x1.ffffffffdc830p-2);
    p = mul_add(p, x, 0x1.ffffffffffd63p-1);
    return p;
}

// atan(r)/r by r^2: [0, 1], error 2^-36.6
INL double poly_atan(double x)
{
    double p = 0x1.c5fd57e9ddbcfp-12;
    p = mul_add(p, x, -0x1.adb1854bdea39p-9);
    p = mul_add(p, x, 0x1.7da2eb1b72821p-7);
    p = mul_add(p, x, -0x1.af883a0ecc83bp-6);
    p = mul_add(p, x, 0x1.682e0d59917eap-5);
    p = mul_add(p, x, -0x1.ef0342942b608p-5);
    p = mul_add(p, x, 0x1.335cc10c89a63p-4);
    p = mul_add(p, x, -0x1.72c11e9bacf0ap-4);
    p = mul_add(p, x, 0x1.c6e4247a6b652p-4);
    p = mul_add(p, x, -0x1.248ff6c38a350p-3);
    p = mul_add(p, x, 0x1.99997fe17eb6cp-3);
    p = mul_add(p, x, -0x1.5555551cfb8b2p-2);
    p = mul_add(p, x, 0x1.ffffffffeb72bp-1);
    return p;
}

// asin(r)/r by r^2: [0, 0.2501], error 2^-35.9
INL double poly_asin(double x)
{
    double p = 0x1.1e70bff4e910bp-5;
    p = mul_add(p, x, 0x1.d8a7f735fdf78p-8);
    p = mul_add(p, x, 0x1.94ef4e0e0aba2p-6);
    p = mul_add(p, x, 0x1.ed056de11b25cp-6);
    p = mul_add(p, x, 0x1.6ddf2cc3094d7p-5);
    p = mul_add(p, x, 0x1.33328cd5301d8p-4);
    p = mul_add(p, x, 0x1.5555565997fd9p-3);
    p = mul_add(p, x, 0x1.ffffffffdeae4p-1);
    return p;
}

// --- exponential ----------------------------------------------------------------------------------------------------
// t = n ln2 + r: gives 2^n and exp(r) - 1. |t| below 700.
INL double exp_parts(double t, private double *scale)
{
    double shifted = mul_add(t, LOG2_E, ROUNDER);
    double n = shifted - ROUNDER;
    double r = mul_add(-n, LN2, t);
    *scale = as_double((as_long(shifted) + 1023) << 52);
    return r * poly_expm1(r);
}
// exp2(t), exp(t) - 1 where float has a finite nonzero result or one step beyond.
INL double bounded(double t, double limit)
{
    double least = t > limit ? limit : t;
    return least < -limit ? -limit : least;
}
INL double exp2_core(double t)
{
    t = bounded(t, 300.0);
    double shifted = t + ROUNDER;
    double r = (t - (shifted - ROUNDER)) * LN2;
    double scale = as_double((as_long(shifted) + 1023) << 52);
    return mul_add(scale, r * poly_expm1(r), scale);
}
INL double expm1_core(double t)
{
    double scale;
    double p = exp_parts(bounded(t, 250.0), &scale);
    return mul_add(scale, p, scale - 1.0);
}

// --- logarithm ------------------------------------------------------------------------------------------------------
// x = 2^e (1 + f) with 1 + f between sqrt(1/2) and sqrt(2): gives log(1 + f) and e, for normal positive x.
INL double log_parts(double x, private double *e)
{
    long bits = as_long(x);
    long exponent = (bits - 0x3fe6a09e667f3bcdL) >> 52;
    double f = as_double(bits - (exponent << 52)) - 1.0;
    *e = (double)(int)exponent;
    return f * poly_log1p(f);
}
// What the logarithm r of a positive finite x becomes for every x.
INL double log_cases(double x, double r)
{
    r = x > 0.0 ? r : x == 0.0 ? -(double)INFINITY : (double)NAN;
    return x == (double)INFINITY ? x : r;
}
INL double log_core(double x)
{
    double e, l = log_parts(x, &e);
    return log_cases(x, mul_add(e, LN2, l));
}
INL double log2_core(double x)
{
    double e, l = log_parts(x, &e);
    return log_cases(x, mul_add(l, LOG2_E, e));
}
// log(1 + t): what the sum loses matters, and is nearly a change of the logarithm, only where the sum is close to 1.
INL double log1p_core(double t)
{
    double sum = 1.0 + t;
    double lost = t < 1.0 ? t - (sum - 1.0) : 0.0;
    double r = log_core(sum);
    return sum > 0.0 ? (t == 0.0 ? t : r + lost) : r;
}

// --- sine and cosine ------------------------------------------------------------------------------------------------
// x minus the nearest multiple of pi/2 for 2^20 <= x, and the low bits of the multiple. What of 2/pi leaves multiples of 4 plays no
// part (Payne & Hanek 1983); the first two products are exact.
INL double reduce_large(float x, private int *quarter)
{
    // Infinity and NaN have the table's last row; their result is replaced.
    int row = (as_int(x) >> 23) - (127 + 20);
    double t = (double)x;
    double product = t * TWO_OVER_PI_HIGH[row];
    double shifted = mul_add(t, TWO_OVER_PI_MIDDLE[row], product) + ROUNDER;
    *quarter = (int)as_long(shifted);
    double fraction = mul_add(t, TWO_OVER_PI_MIDDLE[row], product - (shifted - ROUNDER));
    return mul_add(t, TWO_OVER_PI_LOW[row], fraction) * (PI / 2.0);
}

// x minus the nearest multiple of pi/2, and the low bits of the multiple.
INL double reduce(float x, private int *quarter)
{
    double t = (double)x;
    if (__builtin_elementwise_abs(x) >= 0x1p20f) {
        double r = reduce_large(__builtin_elementwise_abs(x), quarter);
        *quarter = x < 0.0f ? -*quarter : *quarter;
        return __builtin_elementwise_abs(x) == INFINITY ? (double)NAN : x < 0.0f ? -r : r;
    }
    double shifted = mul_add(t, 0x1.45f306dc9c883p-1, ROUNDER);
    double n = shifted - ROUNDER;
    *quarter = (int)as_long(shifted);
    // The first part of pi/2 has 33 bits: its product with n is exact.
    return mul_add(-n, 0x1.0b4611a626331p-34, mul_add(-n, 0x1.921fb544p+0, t));
}
INL double sin_kernel(double r) { return r * poly_sin(r * r); }
INL double cos_kernel(double r) { return poly_cos(r * r); }

// --- inverse functions ----------------------------------------------------------------------------------------------
INL double atan_core(double t)
{
    double a = __builtin_elementwise_abs(t);
    double z = a > 1.0 ? 1.0 / a : a;
    double v = z * poly_atan(z * z);
    return __builtin_elementwise_copysign(a > 1.0 ? PI / 2.0 - v : v, t);
}
INL double atan2_core(double y, double x)
{
    double ax = __builtin_elementwise_abs(x), ay = __builtin_elementwise_abs(y);
    int steep = ay > ax;
    double low = steep ? ax : ay, high = steep ? ay : ax;
    double z = high == 0.0 ? 0.0 : low == (double)INFINITY ? 1.0 : low / high;
    double v = z * poly_atan(z * z);
    v = steep ? PI / 2.0 - v : v;
    v = as_long(x) < 0 ? PI - v : v;
    return x != x || y != y ? (double)NAN : __builtin_elementwise_copysign(v, y);
}
// Beyond 1/2 by the half angle: asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
INL double asin_core(double t)
{
    double a = __builtin_elementwise_abs(t);
    double z = a > 0.5 ? 0.5 - 0.5 * a : a * a;
    double s = a > 0.5 ? __builtin_elementwise_sqrt(z) : a;
    double v = s * poly_asin(z);
    return __builtin_elementwise_copysign(a > 0.5 ? PI / 2.0 - 2.0 * v : v, t);
}
INL double acos_core(double t)
{
    double a = __builtin_elementwise_abs(t);
    double z = a > 0.5 ? 0.5 - 0.5 * a : a * a;
    double s = a > 0.5 ? __builtin_elementwise_sqrt(z) : a;
    double v = s * poly_asin(z);
    double large = t < 0.0 ? PI - 2.0 * v : 2.0 * v;
    return a > 0.5 ? large : PI / 2.0 - __builtin_elementwise_copysign(v, t);
}

#endif
