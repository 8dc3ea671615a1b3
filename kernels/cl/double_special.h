// The error and gamma functions of double.
#ifndef LOCKSTEP_DOUBLE_SPECIAL_H
#define LOCKSTEP_DOUBLE_SPECIAL_H
#include "double_exp.h"
#include "double_log.h"
#include "double_trig.h"

// --- error functions ------------------------------------------------------------------------------------------------
// erf(x)/x by x^2: [0, 1], error 2^-55.1
INL double poly_erf(double x)
{
    double square = x * x;
    double even = 0x1.d71b01f9e2ca4p-27;
    even = mul_add(even, square, 0x1.b97fd3955b853p-20);
    even = mul_add(even, square, 0x1.f9a2baa8a095dp-14);
    even = mul_add(even, square, 0x1.565bccf92b1bfp-8);
    even = mul_add(even, square, 0x1.ce2f21a040d16p-4);
    even = mul_add(even, square, 0x1.20dd750429b6dp+0);
    double odd = -0x1.abae1f6f792f6p-31;
    odd = mul_add(odd, square, -0x1.5c07252b71f59p-23);
    odd = mul_add(odd, square, -0x1.f4ca4d68f106ep-17);
    odd = mul_add(odd, square, -0x1.c02db03dd3a67p-11);
    odd = mul_add(odd, square, -0x1.b82ce311fa936p-6);
    odd = mul_add(odd, square, -0x1.812746b0379bdp-2);
    return mul_add(odd, x, even);
}

// -log2(erfc(1+t)): [0, 4.95], error 2^-54.0
INL double poly_log_erfc(double x)
{
    double square = x * x, fourth = square * square;
    double p0 = -0x1.c137c3b218b25p-36;
    p0 = mul_add(p0, fourth, -0x1.b05accee742bap-27);
    p0 = mul_add(p0, fourth, 0x1.4a2e88e6e002bp-15);
    p0 = mul_add(p0, fourth, -0x1.da576244ab3cap-7);
    p0 = mul_add(p0, fourth, 0x1.558eada6637f3p+1);
    double p2 = -0x1.4233e52378706p-28;
    p2 = mul_add(p2, fourth, 0x1.b435d1b93dab8p-19);
    p2 = mul_add(p2, fourth, -0x1.66fbbc8928d14p-12);
    p2 = mul_add(p2, fourth, 0x1.37627e9b6173cp+0);
    double p1 = 0x1.5d66c13df700cp-26;
    p1 = mul_add(p1, fourth, -0x1.d9e4174cec724p-17);
    p1 = mul_add(p1, fourth, 0x1.7603ab9ba0539p-9);
    p1 = mul_add(p1, fourth, 0x1.e75328fe78b9dp+1);
    double p3 = 0x1.243cc6758fce5p-31;
    p3 = mul_add(p3, fourth, -0x1.c956ae572c16bp-22);
    p3 = mul_add(p3, fourth, -0x1.3ec2b9e4687c8p-15);
    p3 = mul_add(p3, fourth, 0x1.eb31367b69c7cp-5);
    return mul_add(mul_add(p3, square, p1), x, mul_add(p2, square, p0));
}

// erf(a) for a of at least 1: 1 less a power of two, of which the rounding at 1 forgives what is off.
INL double erf_from_one(double a)
{
    double exponent = poly_log_erfc(least(a, 5.95) - 1.0);
    double shifted = ROUNDER - exponent;
    double r = (ROUNDER - shifted) - exponent;
    double scale = as_double((as_ulong(shifted) + 1023) << 52);
    return mul_add(-scale, expm1_near_zero(r * LN2), 1.0 - scale);
}

// exp(x^2)erfc(x)(x+4) by (x-4)/(x+4): [-1, 0.746032], error 2^-53.6
INL double poly_erfc(double x)
{
    double square = x * x;
    double even = -0x1.d9967873cd130p-27;
    even = mul_add(even, square, 0x1.0abec3dadeb24p-23);
    even = mul_add(even, square, -0x1.c77a46d67e1cbp-21);
    even = mul_add(even, square, 0x1.3b304521ebd16p-18);
    even = mul_add(even, square, -0x1.e80e56e0dc97dp-19);
    even = mul_add(even, square, -0x1.dd28303f8fc2cp-12);
    even = mul_add(even, square, 0x1.908f46eca03ebp-8);
    even = mul_add(even, square, 0x1.38dbd2c934a41p-4);
    even = mul_add(even, square, 0x1.52cac2370f24ep-2);
    even = mul_add(even, square, 0x1.8be202d26c726p-1);
    even = mul_add(even, square, 0x1.18932bf08e154p+0);
    double odd = -0x1.79496d616c3d2p-29;
    odd = mul_add(odd, square, 0x1.4a06112718207p-27);
    odd = mul_add(odd, square, -0x1.755cb660d2bdbp-24);
    odd = mul_add(odd, square, 0x1.808e61699fc6cp-20);
    odd = mul_add(odd, square, -0x1.3c7f59d15a69ap-16);
    odd = mul_add(odd, square, 0x1.72ce434bf5314p-13);
    odd = mul_add(odd, square, -0x1.269b60bf74acep-12);
    odd = mul_add(odd, square, -0x1.b00c052576250p-6);
    odd = mul_add(odd, square, -0x1.645fd8a4ca1cdp-3);
    odd = mul_add(odd, square, -0x1.14eacb1ad0185p-1);
    odd = mul_add(odd, square, -0x1.f3fe31ecb49c3p-1);
    return mul_add(odd, x, even);
}

// erfc(a) for a of at least 0: exp(-a^2) with a square of twice the precision, times what varies slowly.
INL double erfc_of(double a)
{
    double x = least(a, 27.5);
    double square = x * x, square_low = FUSED(x, x, -square);
    double inverse = 1.0 / (x + 4.0);
    double slow = poly_erfc((x - 4.0) * inverse) * inverse;
    double counted;
    double r = exp_counted(-square, &counted) - square_low;
    return __lockstep_scaled_double(expm1_near_zero(r) * slow, slow, counted);
}
// --- gamma functions ------------------------------------------------------------------------------------------------
// Stirling's rest times a, by 1/a^2: [0, 0.015625], error 2^-63.5
INL double poly_stirling(double x)
{
    double p = 0x1.46dfccb053570p-8;
    p = mul_add(p, x, -0x1.ee828736d4307p-10);
    p = mul_add(p, x, 0x1.b921c186f0099p-11);
    p = mul_add(p, x, -0x1.3813342d9727bp-11);
    p = mul_add(p, x, 0x1.a01a016066ea3p-11);
    p = mul_add(p, x, -0x1.6c16c16c10ee9p-9);
    p = mul_add(p, x, 0x1.5555555555555p-4);
    return p;
}

// log(gamma(2+t))/t: [-0.5, 0.5], error 2^-55.6
INL double poly_log_gamma(double x)
{
    double square = x * x;
    double even = -0x1.37b69c84f3894p-21;
    even = mul_add(even, square, -0x1.090e8e1196a55p-19);
    even = mul_add(even, square, -0x1.3d4b186a5b42dp-17);
    even = mul_add(even, square, -0x1.78d910da86b76p-15);
    even = mul_add(even, square, -0x1.d3fd69d91c084p-13);
    even = mul_add(even, square, -0x1.38ac5bfe59d3fp-10);
    even = mul_add(even, square, -0x1.e404fc21d6130p-8);
    even = mul_add(even, square, -0x1.13e001a55755ep-4);
    even = mul_add(even, square, 0x1.b0ee6072093cep-2);
    double odd = 0x1.3fa977ef750f2p-22;
    odd = mul_add(odd, square, 0x1.e3211411dd359p-21);
    odd = mul_add(odd, square, 0x1.26d82526eb224p-18);
    odd = mul_add(odd, square, 0x1.57fe0c74923a8p-16);
    odd = mul_add(odd, square, 0x1.a128278c2fa91p-14);
    odd = mul_add(odd, square, 0x1.0b36ae818904ap-11);
    odd = mul_add(odd, square, 0x1.7add6eb02247fp-9);
    odd = mul_add(odd, square, 0x1.51322ac7d6f94p-6);
    odd = mul_add(odd, square, 0x1.4a34cc4a60fa8p-2);
    return mul_add(odd, x, even);
}

// log2(gamma(a)) as a sum for a of at least 8, a + a_low in truth, without what makes it infinite or NaN. (Stirling)
INL double log2_gamma(double a, double a_low, private double *low)
{
    double e, f = log_parts_of_normal(a, &e);
    double l, h = log2_sum(e, f, &l);
    double b = a - 0.5;
    double t = b * h, t_low = FUSED(b, h, -t) + b * l;
    double u = -a * LOG2_E, u_low = FUSED(-a, LOG2_E, -u) - a * LOG2_E_LOW;
    double inverse = 1.0 / a;
    // log2(2 pi) / 2, the rest of the series, and the derivative times what a is short of.
    double rest = mul_add(inverse * LOG2_E, poly_stirling(inverse * inverse), 0x1.536439a4c6efbp+0);
    rest = mul_add(a_low, h - inverse * (0.5 * LOG2_E), rest);
    double sum = t + u;
    double sum_low = (u - (sum - t)) + ((t_low + u_low) + rest);
    double high = sum + sum_low;
    *low = sum_low - (high - sum);
    return high;
}

// gamma(x + 8) = gamma(x) x (x+1) … (x+7), and gamma(x) gamma(-x) = -pi / (x sin(pi x)).
INL double gamma_of(double x)
{
    double a = magnitude(x);
    int small = a < 8.0, negative = x < 0.0;
    double t = mul_add(a, a, 7.0 * a);
    double seven = (a + 7.0) * (t + 6.0) * ((t + 10.0) * (t + 12.0));
    double above = small ? a + 8.0 : least(a, 200.0);
    double low, high = log2_gamma(above, small ? a - (above - 8.0) : 0.0, &low);
    double over = small ? seven : 1.0, under = small ? a : 1.0;
    // Times 2^-64, so that it stays in range; the power has that again.
    double s = sinpi_of(a);
    double ratio = negative ? -over * (PI * 0x1p-64) / (small ? s : s * a) : 0x1p-64 / (over * under);
    double exponent = negative ? -high : high, exponent_low = negative ? -low : low;
    double counted = exponent + COUNT_DOUBLE;
    double r = (exponent - (counted - COUNT_DOUBLE)) + exponent_low;
    double v = __lockstep_scaled_double(expm1_near_zero(r * LN2) * ratio, ratio, counted + 64.0);
    v = x == 0.0 ? 1.0 / x : x == INF ? x : v;
    return x != x || (negative && (s == 0.0 || a == INF)) ? QUIET_NAN : v;
}

// Up to 8 by one polynomial around 2 and the logarithm of what leads there; beyond by the series.
INL double log_gamma(double x)
{
    double a = magnitude(x);
    int large = a >= 8.0, negative = x < 0.0;
    // gamma(2^64 a) is as good as gamma(a)^(2^64) 2^(64 a 2^64) for the largest of numbers, whose series would overflow.
    int huge = a > 0x1p1000;
    double b = huge ? least(a, 0x1p1022) * 0x1p-64 : large ? a : 8.0;
    double low, high = log2_gamma(b, 0.0, &low);
    high = huge ? mul_add(b, 64.0, high) : high;
    double k = a < 1.5 ? 0.0 : __builtin_elementwise_rint(a) - 2.0;
    double t = a < 0.5 ? a : a < 1.5 ? a - 1.0 : (a - k) - 2.0;
    double product = 1.0;
    for (int i = 1; i <= 6; i++)
        product *= (double)i <= k ? a - (double)i : 1.0;
    product = large ? 1.0 : product;
    // What the logarithm is taken of, in a form that does not leave the range for the smallest of numbers.
    double under = a >= 1.5 ? 1.0 : a >= 0.5 ? a : a * (1.0 + a);
    double s = magnitude(sinpi_of(a)) * PER_PI;
    double reflected = (a < 0.5 ? s : s * a * product) / (a < 0.5 ? 1.0 + a : under);
    double l = log_of(negative ? reflected : a < 1.5 ? under : product);
    l = negative || a < 1.5 ? -l : l;
    double v = large ? mul_add(high, LN2, mul_add(high, LN2_LOW, low * LN2)) : t * poly_log_gamma(t);
    v = negative ? l - v : v + l;
    v = huge ? v * 0x1p64 : v;
    return a == INF || (negative && s == 0.0) || a == 0.0 ? INF : v;
}
// The gamma function is negative between -1 and 0, between -3 and -2 and so on, and has no sign at its poles.
INL int gamma_sign(double x)
{
    double f = __builtin_elementwise_floor(x);
    int odd = f != 2.0 * __builtin_elementwise_floor(f * 0.5);
    return x <= 0.0 && f == x && x != -INF ? 0 : x < 0.0 && odd ? -1 : 1;
}

#endif
