// 6.15.2 Hyperbolic functions of double and their inverses.
#include "double_exp.h"
#include "double_log.h"

// (sinh(r)-r)/r^3 by r^2: [0, 0.120594], error 2^-61.4
INL double poly_sinh_rest(double x)
{
    double p = 0x1.af5fb4170b5c5p-26;
    p = mul_add(p, x, 0x1.71ddf7d22f133p-19);
    p = mul_add(p, x, 0x1.a01a01b013b36p-13);
    p = mul_add(p, x, 0x1.111111110f647p-7);
    p = mul_add(p, x, 0x1.5555555555559p-3);
    return p;
}

// (cosh(r)-1)/r^2 by r^2: [0, 0.120594], error 2^-65.3
INL double poly_cosh_rest(double x)
{
    double p = 0x1.1f95ec9aa40eap-29;
    p = mul_add(p, x, 0x1.27e4c494c2915p-22);
    p = mul_add(p, x, 0x1.a01a01b1b380bp-16);
    p = mul_add(p, x, 0x1.6c16c16c13e71p-10);
    p = mul_add(p, x, 0x1.555555555555cp-5);
    p = mul_add(p, x, 0x1.0p-1);
    return p;
}

// With a = n ln2 + r: sinh(a)/2 and cosh(a)/2 from those of r and of n ln2, which the powers of two make up. Half, so that
// they are finite wherever the functions are.
INL double half_sinh(double a, private double *half_cosh)
{
    double shifted;
    double r = exp_reduced(least(a, 710.6), &shifted);
    double up = as_double((as_ulong(shifted) + 1021) << 52);
    // The other power no longer matters where it would be denormal.
    double down = as_double((1021 - as_ulong(least(shifted, ROUNDER + 200.0))) << 52);
    double even = up + down, odd = up - down;
    double square = r * r;
    double s = mul_add(r * square, poly_sinh_rest(square), r), c = square * poly_cosh_rest(square);
    *half_cosh = even + mul_add(c, even, s * odd);
    return odd + mul_add(c, odd, s * even);
}

OVL double sinh(double x)
{
    double c, s = half_sinh(magnitude(x), &c);
    return magnitude(x) < 0x1p-28 ? x : with_sign(s * 2.0, x);
}
OVL double cosh(double x)
{
    double c;
    half_sinh(magnitude(x), &c);
    return c * 2.0;
}
OVL double tanh(double x)
{
    double a = magnitude(x);
    double c, s = half_sinh(least(a, 30.0), &c);
    return a < 0x1p-28 || x != x ? x : with_sign(a > 20.0 ? 1.0 : s / c, x);
}

// Squares are taken of what is not too large for them; beyond, one is as nothing and the logarithm of 2x is meant.
#define LARGE 0x1p500
OVL double asinh(double x)
{
    double a = magnitude(x);
    int large = a > LARGE;
    double b = large ? 1.0 : a;
    double square = b * b;
    double t = b + square / (1.0 + __builtin_elementwise_sqrt(square + 1.0));
    double v = log1p_of(large ? a : t) + (large ? LN2 : 0.0);
    return with_sign(v, x);
}
OVL double acosh(double x)
{
    int large = x > LARGE;
    double t = large ? 1.0 : x - 1.0;
    double v = log1p_of(large ? x : t + __builtin_elementwise_sqrt(mul_add(t, t, 2.0 * t))) + (large ? LN2 : 0.0);
    return t < 0.0 ? QUIET_NAN : v;
}
OVL double atanh(double x)
{
    double a = magnitude(x);
    return with_sign(0.5 * log1p_of(2.0 * a / (1.0 - a)), x);
}

MAP1(double, sinh, double)
MAP1(double, cosh, double)
MAP1(double, tanh, double)
MAP1(double, asinh, double)
MAP1(double, acosh, double)
MAP1(double, atanh, double)
