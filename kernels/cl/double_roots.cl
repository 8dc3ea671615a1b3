// 6.15.2 Reciprocal square root and hypot of double, without the machine's root and division: those take several times as
// long as what is below, and only sqrt itself has to be rounded correctly.
#include "double_math.h"

// x^(-1/2) to 38 bits or more for positive normal x: an estimate of 13 bits and one of Halley's steps.
INL double reciprocal_root(double x)
{
    double y = __lockstep_rsqrt_estimate_double(x);
    double h = mul_add(-x * y, y, 1.0);
    return mul_add(y * h, mul_add(h, 0.375, 0.5), y);
}

// Whether x lies outside of [2^-n, 2^n), n below 1023, or is negative or NaN: few lanes ask for what is then to be done.
INL int is_beyond(double x, ulong n) { return as_ulong(x) - ((1023 - n) << 52) >= n << 53; }

OVL double rsqrt(double x)
{
    double y = reciprocal_root(x);
    double h = FUSED(-x * y, y, 1.0);
    y = mul_add(y * h, 0.5, y);
    if (is_beyond(x, 1022))
        y = 1.0 / __builtin_elementwise_sqrt(x);
    return y;
}

// With arguments scaled by the power of two at the larger one.
INL double scaled_hypot(double x, double y)
{
    double a = magnitude(x), b = magnitude(y);
    // The power of two at the larger one, and its reciprocal.
    ulong power = as_ulong(bounded(a > b ? a : b, 0x1p-1000, 0x1p1000)) & 0x7ff0000000000000UL;
    double down = as_double(0x7fe0000000000000UL - power);
    a *= down;
    b *= down;
    double root = __builtin_elementwise_sqrt(mul_add(a, a, b * b)) * as_double(power);
    return is_inf(x) || is_inf(y) ? INF : root;
}
OVL double hypot(double x, double y)
{
    double square = mul_add(x, x, y * y);
    double r = reciprocal_root(square);
    double root = square * r;
    root = mul_add(FUSED(-root, root, square), 0.5 * r, root);
    if (is_beyond(square, 900))
        root = scaled_hypot(x, y);
    return root;
}

MAP1(double, rsqrt, double)
MAP2(double, hypot, double, double)
