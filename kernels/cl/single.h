// Float functions in float arithmetic, with twice the lanes that double has: a few ulp from the exact value, within the
// bounds of the full profile. docs/accuracy.md has how many. The coefficients come from coefficients/minimax.py; the
// comment at each polynomial says what it approximates, where, and how closely.
#ifndef LOCKSTEP_SINGLE_H
#define LOCKSTEP_SINGLE_H
#include "math.h"

// Adding this rounds to the nearest integer and leaves that integer plus 127 in the low bits of the pattern.
#define ROUNDER_127 0x1.8000fep23f

// ln2 in two parts; a product of the first with a number of 8 bits is exact.
#define LN2_HIGH 0x1.62e4p-1f
#define LN2_LOW 0x1.7f7d1cp-20f
#define LOG2_E_FLOAT 0x1.715476p+0f

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

// (2^r-1)/r in float: [-0.501, 0.501], error 2^-25.9
INL float poly_exp2_rest(float x)
{
    float p = 0x1.41faap-13f;
    p = mul_add(p, x, 0x1.5f400ep-10f);
    p = mul_add(p, x, 0x1.3b2d52p-7f);
    p = mul_add(p, x, 0x1.c6aee6p-5f);
    p = mul_add(p, x, 0x1.ebfbdcp-3f);
    p = mul_add(p, x, 0x1.62e43p-1f);
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

// (log(1+f)-f+f^2/2-f^3/3)/f^4 in float: [-0.333433, 0.333433], error 2^-29.8
INL float poly_log_tail(float x)
{
    float p = 0x1.e88faap-4f;
    p = mul_add(p, x, -0x1.06a3d4p-3f);
    p = mul_add(p, x, 0x1.b9877cp-4f);
    p = mul_add(p, x, -0x1.f3c01ep-4f);
    p = mul_add(p, x, 0x1.24e552p-3f);
    p = mul_add(p, x, -0x1.5596e4p-3f);
    p = mul_add(p, x, 0x1.99983cp-3f);
    p = mul_add(p, x, -0x1.ffff1cp-3f);
    return p;
}

// (sin(r)-r)/r^3 by r^2 in float: [0, 2.46987], error 2^-26.3
// (sin(r)-r)/r^3-1.25*2^-31*r^6 by r^2 in float: [0, 2.46987], error 2^-26.3; the first coefficient is another
INL float poly_sin_rest(float x, int lowered)
{
    float p = lowered ? 0x1.5da4cep-19f : 0x1.5db8cep-19f;
    p = mul_add(p, x, -0x1.9f6fa8p-13f);
    p = mul_add(p, x, 0x1.110ed2p-7f);
    p = mul_add(p, x, -0x1.55554cp-3f);
    return p;
}

// (tan(r)-r)/r^3 by r^2 in float: [0, 0.617467], error 2^-25.6
INL float poly_tan_rest(float x)
{
    float p = 0x1.33e122p-7f;
    p = mul_add(p, x, 0x1.96af28p-9f);
    p = mul_add(p, x, 0x1.906f84p-6f);
    p = mul_add(p, x, 0x1.b58584p-5f);
    p = mul_add(p, x, 0x1.112de8p-3f);
    p = mul_add(p, x, 0x1.5554dep-2f);
    return p;
}

// (atan(r)-r)/r^3 by r^2 in float: [0, 1], error 2^-25
INL float poly_atan_rest(float x)
{
    float p = 0x1.7ed10ep-9f;
    p = mul_add(p, x, -0x1.0c2b8p-6f);
    p = mul_add(p, x, 0x1.61fd6p-5f);
    p = mul_add(p, x, -0x1.355682p-4f);
    p = mul_add(p, x, 0x1.b4e112p-4f);
    p = mul_add(p, x, -0x1.230ad8p-3f);
    p = mul_add(p, x, 0x1.9978f4p-3f);
    p = mul_add(p, x, -0x1.5554dcp-2f);
    return p;
}

// --- exponential ----------------------------------------------------------------------------------------------------
// One minimum and one maximum of the machine, as the second choice is about the first one's result. NaN stays.
INL float bounded(float x, float low, float high)
{
    float least = x > high ? high : x;
    return least < low ? low : least;
}
// t = n ln2 + r: gives exp(r) - 1, and n by way of `counted`.
INL float exp_rest(float t, private float *counted)
{
    *counted = mul_add(t, LOG2_E_FLOAT, COUNT_FLOAT);
    float n = *counted - COUNT_FLOAT;
    float r = mul_add(-n, LN2_LOW, mul_add(-n, LN2_HIGH, t));
    return mul_add(poly_exp_rest(r), r * r, r);
}

// A quarter of exp(t), or of exp(t) - 1, for t from 0 to 89.5, where exp(t) itself may be beyond what float has.
INL float quarter_exp(float t, float less)
{
    float counted;
    float p = exp_rest(t, &counted);
    float scale = as_float((as_int(counted) - 129) << 23);
    return mul_add(scale, p, scale - less);
}

// --- logarithm ------------------------------------------------------------------------------------------------------
// x = 2^n (1 + f) with 1 + f between 2/3 and 4/3, for such an x.
INL float log_split(float x, private float *n)
{
    int bits = as_int(x);
    int exponent = (bits - 0x3f2aaaab) >> 23;
    *n = (float)exponent;
    return as_float(bits - (exponent << 23)) - 1.0f;
}
// The same for positive finite x.
INL float log_split_any(float x, private float *n)
{
    int denormal = x < 0x1p-126f;
    float f = log_split(denormal ? x * 0x1p23f : x, n);
    *n = denormal ? *n - 23.0f : *n;
    return f;
}
// What the logarithm r of a positive finite x becomes for every x.
INL float log_every(float x, float r)
{
    r = x > 0.0f ? r : x == 0.0f ? -INFINITY : NAN;
    return x == INFINITY ? x : r;
}
// The logarithm to the base whose logarithm is 1/(scale + scale_low), of which 2's is base_high + base_low.
INL float log_to_base_of(float f, float n, float scale, float scale_low, float base_high, float base_low)
{
    float square = f * f;
    float rest = mul_add(-0.5f, square, square * (f * poly_log_rest(f)));
    float small = mul_add(n, base_low, mul_add(rest, scale, f * scale_low));
    return mul_add(n, base_high, mul_add(f, scale, small));
}
INL float log_to_base(float x, float scale, float scale_low, float base_high, float base_low)
{
    float n, f = log_split(x, &n);
    float v = log_to_base_of(f, n, scale, scale_low, base_high, base_low);
    if (!is_ordinary(x)) {
        f = log_split_any(x, &n);
        v = log_every(x, log_to_base_of(f, n, scale, scale_low, base_high, base_low));
    }
    return v;
}

// --- sine, cosine, tangent ------------------------------------------------------------------------------------------
// Below this, in magnitude, a multiple of pi/2 is found and taken off in float.
#define NEAR 3000.0f

// x minus k pi, for k a multiple of one half below 2^11: pi in four parts, and the first three are short enough for
// exact products.
INL float minus_multiple(float x, float k)
{
    float r = mul_add(-k, 0x1.92p+1f, x);
    r = mul_add(-k, 0x1.fb4p-11f, r);
    r = mul_add(-k, 0x1.444p-23f, r);
    return mul_add(-k, 0x1.68c234p-38f, r);
}
// The sine of r up to pi/2, negated where bit 0 of `flip` is set. The product keeps the sign of a zero.
//
// Around pi/2 its roundings may add up to one unit more than 1, which no sine is. Where sums are fused, a polynomial that is
// half a unit less there sees to that for every r, at no cost, and is still 1 at pi/2, which cos(0) is taken from. Where they
// are not, none does both.
INL float sin_near(float r, int flip)
{
    int fused = __lockstep_fuses_sums();
    float square = r * r;
    float v = r * mul_add(square, poly_sin_rest(square, fused), 1.0f);
    v = fused ? v : bounded(v, -1.0f, 1.0f);
    return as_float(as_int(v) ^ flip << 31);
}
// The arguments of sin_near and tan_near for x below NEAR, and what bit 0 of is asked. Adding 0x1.8p23 rounds, and leaves the multiple's
// parity in bit 0.
INL float sine_argument(float x, private int *flip)
{
    float shifted = mul_add(x, 0x1.45f306p-2f, 0x1.8p23f);
    *flip = as_int(shifted);
    return minus_multiple(x, shifted - 0x1.8p23f);
}
INL float cosine_argument(float x, private int *flip)
{
    float shifted = mul_add(x, 0x1.45f306p-2f, -0.5f) + 0x1.8p23f;
    *flip = as_int(shifted) + 1;
    return minus_multiple(x, (shifted - 0x1.8p23f) + 0.5f);
}
INL float tangent_argument(float x, private int *odd)
{
    float shifted = mul_add(x, 0x1.45f306p-1f, 0x1.8p23f);
    *odd = as_int(shifted);
    return minus_multiple(x, (shifted - 0x1.8p23f) * 0.5f);
}
// The tangent of r up to pi/4, or of pi/2 more where bit 0 of `odd` is set.
INL float tan_near(float r, int odd)
{
    float square = r * r;
    float t = r * mul_add(square, poly_tan_rest(square), 1.0f);
    return (odd & 1 ? -1.0f : t) / (odd & 1 ? t : 1.0f);
}

#endif
