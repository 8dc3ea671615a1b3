// 6.15.2 Powers and roots of double.
#include "double_exp.h"
#include "double_log.h"

// log2(x) as a sum for every x of at least 0.
INL double log2_sum_of_any(double x, private double *low)
{
    double e, f = log_parts(x, &e);
    double l, h = log2_sum(e, f, &l);
    int ordinary = x > 0.0 && x < INF;
    *low = ordinary ? l : 0.0;
    return ordinary ? h : x == 0.0 ? -INF : x;
}

// |x|^y, NaN if either is.
INL double magnitude_power(double a, double y)
{
    double low, high = log2_sum_of_any(a, &low);
    double t = y * high;
    double t_low = FUSED(y, high, -t) + y * low;
    double r = exp2_of_sum(t, t_low);
    return a == 1.0 ? y != y ? y : 1.0 : r;
}

INL int is_integer(double y) { return __builtin_elementwise_rint(y) == y; }

// For every x and y.
INL double any_power(double x, double y)
{
    double r = magnitude_power(magnitude(x), y);
    int integer = is_integer(y), odd = integer && !is_integer(y * 0.5);
    r = odd ? with_sign(r, x) : r;
    r = x < 0.0 && x != -INF && !integer ? QUIET_NAN : r;
    // 1 to any power and anything to the power 0 are 1 even with NaN.
    return x == 1.0 || y == 0.0 ? 1.0 : r;
}
// What most lanes have: a positive base, and a result that is neither large nor small.
OVL double pow(double x, double y)
{
    double e, f = log_parts_of_normal(x, &e);
    double low, high = log2_sum(e, f, &low);
    double t = y * high;
    double shifted = t + ROUNDER;
    double rest = exp2_of_sum_rest(t - (shifted - ROUNDER), mul_add(y, low, FUSED(y, high, -t)));
    double scale = as_double((as_ulong(shifted) + 1023) << 52);
    double v = mul_add(rest, scale, scale);
    int ordinary = as_ulong(x) - 0x0010000000000000UL < 0x7fe0000000000000UL && magnitude(t) < 1020.0;
    if (!ordinary)
        v = any_power(x, y);
    return y == 1.0 ? x : v;
}
OVL double pown(double x, int n)
{
    double r = magnitude_power(magnitude(x), (double)n);
    r = n & 1 ? with_sign(r, x) : r;
    return n == 0 ? 1.0 : n == 1 ? x : r;
}
// powr is exp(y*log(x)): no negative base, and NaN where the product 0*inf would appear.
OVL double powr(double x, double y)
{
    double a = magnitude(x);
    int undefined = x < 0.0 || x != x || y != y || (y == 0.0 && (x == 0.0 || x == INF)) || (x == 1.0 && magnitude(y) == INF);
    double r = magnitude_power(a, y);
    return undefined ? QUIET_NAN : y == 0.0 ? 1.0 : y == 1.0 ? a : r;
}
OVL double rootn(double x, int n)
{
    double d = (double)n;
    double low, high = log2_sum_of_any(magnitude(x), &low);
    double t = high / d;
    double t_low = (FUSED(-t, d, high) + low) / d;
    double r = exp2_of_sum(t, t_low);
    int odd = n & 1;
    r = odd ? with_sign(r, x) : r;
    return n == 0 || (x < 0.0 && !odd) ? QUIET_NAN : n == 1 ? x : r;
}

// m^(-1/3): [1, 2], error 2^-11.9
INL double poly_cube_root(double x)
{
    double p = -0x1.9914771bd5f8ap-5;
    p = mul_add(p, x, 0x1.4561acf088bf0p-2);
    p = mul_add(p, x, -0x1.9eb2cd2523105p-1);
    p = mul_add(p, x, 0x1.8ab90939bca6ep+0);
    return p;
}

// |x| = m 2^(3q) with m in [1, 8): m^(-1/3) from a polynomial by Halley's method, which triples the bits, then the root, m
// times the square of that, by one of Newton's steps, whose residual is exact but for its last rounding.
OVL double cbrt(double x)
{
    double a = magnitude(x);
    int denormal = a < 0x1p-1022;
    ulong bits = as_ulong(denormal ? a * 0x1p54 : a);
    double e = as_double((bits >> 52) | 0x4330000000000000UL) - (denormal ? 0x1p52 + 1077.0 : 0x1p52 + 1023.0);
    double shifted = mul_add(e, 1.0 / 3.0, -1.0 / 3.0) + ROUNDER;
    double j = mul_add(shifted - ROUNDER, -3.0, e);
    double m = as_double((bits & 0x000fffffffffffffUL) | 0x3ff0000000000000UL);
    double y = poly_cube_root(m) * (j == 0.0 ? 1.0 : j == 1.0 ? 0x1.965fea53d6e3dp-1 : 0x1.428a2f98d728bp-1);
    m *= j == 0.0 ? 1.0 : j + j;
    double h = mul_add(-m * y, y * y, 1.0);
    y = mul_add(y * h, mul_add(h, 2.0 / 9.0, 1.0 / 3.0), y);
    double c = m * (y * y);
    double square = c * c;
    double square_low = FUSED(c, c, -square);
    double residual = mul_add(-square_low, c, FUSED(-square, c, m));
    c = mul_add(residual, y * y * (1.0 / 3.0), c);
    double r = c * as_double((as_ulong(shifted) + 1023) << 52);
    return x == 0.0 || a == INF || x != x ? x : with_sign(r, x);
}

MAP2(double, pow, double, double)
MAP2(double, pown, double, int)
MAP2(double, powr, double, double)
MAP2(double, rootn, double, int)
MAP1(double, cbrt, double)
