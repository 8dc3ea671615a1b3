// The logarithm of double, to its own precision and beyond.
#ifndef LOCKSTEP_DOUBLE_LOG_H
#define LOCKSTEP_DOUBLE_LOG_H
#include "double_math.h"

// (log(1+f)-f+f^2/2)/f^3: [-0.25, 0.5], error 2^-54.0
INL double poly_log_rest(double x)
{
    double square = x * x;
    double even = 0x1.0b34d43467f08p-5;
    even = mul_add(even, square, 0x1.028db7cdd3a06p-4);
    even = mul_add(even, square, 0x1.10aa6e8a9e892p-4);
    even = mul_add(even, square, 0x1.3af6d6c2fdc3ap-4);
    even = mul_add(even, square, 0x1.745fc06a83e44p-4);
    even = mul_add(even, square, 0x1.c71c583cf60e2p-4);
    even = mul_add(even, square, 0x1.24924960d2c4ep-3);
    even = mul_add(even, square, 0x1.9999999916a75p-3);
    even = mul_add(even, square, 0x1.5555555555848p-2);
    double odd = -0x1.3048642bc611ap-7;
    odd = mul_add(odd, square, -0x1.bf5e72cf214e7p-5);
    odd = mul_add(odd, square, -0x1.0742d4e6a3925p-4);
    odd = mul_add(odd, square, -0x1.23b294fe31526p-4);
    odd = mul_add(odd, square, -0x1.55608f7919209p-4);
    odd = mul_add(odd, square, -0x1.999958864eebep-4);
    odd = mul_add(odd, square, -0x1.00000038a5787p-3);
    odd = mul_add(odd, square, -0x1.55555555e940ep-3);
    odd = mul_add(odd, square, -0x1.fffffffffe5edp-3);
    return mul_add(odd, x, even);
}

// (atanh(s)-s-s^3/3)/s^5 by s^2: [0, 0.0294402], error 2^-66.0
INL double poly_atanh_rest(double x)
{
    double p = 0x1.0e42ef40b2902p-4;
    p = mul_add(p, x, 0x1.0f7fe2d9dd431p-4);
    p = mul_add(p, x, 0x1.3b1eec504f73ap-4);
    p = mul_add(p, x, 0x1.745ce9e1f3536p-4);
    p = mul_add(p, x, 0x1.c71c722d6a456p-4);
    p = mul_add(p, x, 0x1.2492492457d31p-3);
    p = mul_add(p, x, 0x1.9999999999b30p-3);
    return p;
}

// 1/d: [1.70711, 2.41421], error 2^-13.1
INL double poly_inverse(double x)
{
    double p = -0x1.d40cd3e49833cp-5;
    p = mul_add(p, x, 0x1.e23f00f2a6e29p-2);
    p = mul_add(p, x, -0x1.72d380d97422fp+0);
    p = mul_add(p, x, 0x1.f8686395963fbp+0);
    return p;
}

// The pattern of sqrt(1/2), and what takes it to that of 1.
#define ROOT_OF_HALF 0x3fe6a09e667f3bcdUL
#define TO_ONE (0x3ff0000000000000UL - ROOT_OF_HALF)
// The pattern of 3/4.
#define THREE_QUARTERS 0x3fe8000000000000UL

// x = 2^e (1 + f) with 1 + f between sqrt(1/2) and sqrt(2): gives f, which is exact, and e, for positive finite x.
INL double log_parts_of_normal(double x, private double *e)
{
    ulong bits = as_ulong(x) + TO_ONE;
    *e = from_bits(bits >> 52) - 1023.0;
    return as_double((bits & 0x000fffffffffffffUL) + ROOT_OF_HALF) - 1.0;
}
INL double log_parts(double x, private double *e)
{
    int denormal = x < 0x1p-1022;
    ulong bits = as_ulong(denormal ? x * 0x1p54 : x) + TO_ONE;
    *e = as_double((bits >> 52) | 0x4330000000000000UL) - (denormal ? 0x1p52 + 1077.0 : 0x1p52 + 1023.0);
    return as_double((bits & 0x000fffffffffffffUL) + ROOT_OF_HALF) - 1.0;
}

// x = 2^e (1 + f) with 1 + f between 3/4 and 3/2, for a positive x; at zero and infinity e is infinite, as the logarithm is,
// and f is NaN below zero.
INL double log_split(double x, private double *e)
{
    *e = __lockstep_logb(x);
    return __lockstep_significand(x) - 1.0;
}
// log(1 + f) for such an f, less f and all of it.
INL double log_behind(double f)
{
    double square = f * f;
    return mul_add(f * square, poly_log_rest(f), -0.5 * square);
}
INL double log_near_one(double f) { return f + log_behind(f); }
INL double log_of(double x)
{
    double e, f = log_split(x, &e);
    return mul_add(e, LN2, mul_add(e, LN2_LOW, log_near_one(f)));
}

// log(1 + x): the part of x that the sum has lost is added to the logarithm, divided by the sum.
INL double log1p_of(double x)
{
    double sum = 1.0 + x;
    double lost = x > 1.0 ? 1.0 - (sum - x) : x - (sum - 1.0);
    ulong bits = as_ulong(sum) + (0x3ff0000000000000UL - THREE_QUARTERS);
    double e = from_bits(bits >> 52) - 1023.0;
    double f = as_double((bits & 0x000fffffffffffffUL) + THREE_QUARTERS) - 1.0;
    // 2^(2 - e), which is a normal number for each e.
    double scale = as_double(0x8000000000000000UL - (bits & 0x7ff0000000000000UL));
    double rest = lost * scale * 0.25;
    rest = mul_add(-f, rest, rest);
    double r = mul_add(e, LN2, log_near_one(f) + mul_add(e, LN2_LOW, rest));
    r = sum > 0.0 ? with_sign(r, x) : sum == 0.0 ? -INF : QUIET_NAN;
    return x == INF ? x : r;
}

// log2(x) as a sum, good to about 2^-64 of it, for x = 2^e (1 + f) as log_parts has it.
// With s = f / (2 + f) it is e + 2 log2(e) (s + s^3/3 + …).
INL double log2_sum(double e, double f, private double *low)
{
    double d = 2.0 + f, d_low = f - (d - 2.0);
    // 1/d to 39 bits, which make all bits of s together with what the first product lacks.
    double y = poly_inverse(d);
    double h = mul_add(-y, d, 1.0);
    y = mul_add(y, mul_add(h, h, h), y);
    double first = f * y;
    double lacking = mul_add(-first, d_low, FUSED(-first, d, f)) * y;
    double s = first + lacking, s_low = lacking - (s - first);
    double p = s * (2.0 * LOG2_E);
    double p_low = FUSED(s, 2.0 * LOG2_E, -p) + mul_add(s, 2.0 * LOG2_E_LOW, s_low * (2.0 * LOG2_E));
    // s^2/3 and what follows, relative to s.
    double square = s * s;
    double square_low = mul_add(2.0 * s, s_low, FUSED(s, s, -square));
    double q = square * 0x1.5555555555555p-2;
    double q_low = FUSED(square, 0x1.5555555555555p-2, -q) + (square * 0x1.5555555555555p-56 + square_low * (1.0 / 3.0));
    q_low = mul_add(square * square, poly_atanh_rest(square), q_low);
    double t = p * q;
    double t_low = FUSED(p, q, -t) + mul_add(p, q_low, p_low * q);
    double sum = p + t;
    double sum_low = (t - (sum - p)) + (t_low + p_low);
    double whole = e + sum;
    double rest = (sum - (whole - e)) + sum_low;
    double high = whole + rest;
    *low = rest - (high - whole);
    return high;
}

#endif
