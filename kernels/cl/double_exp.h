// The exponential of double and what is made of it.
#ifndef LOCKSTEP_DOUBLE_EXP_H
#define LOCKSTEP_DOUBLE_EXP_H
#include "double_math.h"

// (exp(r)-1-r)/r^2: [-0.347267, 0.347267], error 2^-56.8
INL double poly_exp_rest(double x)
{
    double square = x * x;
    double even = 0x1.28ae34718c073p-22;
    even = mul_add(even, square, 0x1.a0199944632fap-16);
    even = mul_add(even, square, 0x1.6c16c1846fbb1p-10);
    even = mul_add(even, square, 0x1.5555555550755p-5);
    even = mul_add(even, square, 0x1.000000000000ap-1);
    double odd = 0x1.ad7e50364f3d0p-26;
    odd = mul_add(odd, square, 0x1.71df27455ca68p-19);
    odd = mul_add(odd, square, 0x1.a01a0128ec744p-13);
    odd = mul_add(odd, square, 0x1.11111111281a5p-7);
    odd = mul_add(odd, square, 0x1.55555555554f8p-3);
    return mul_add(odd, x, even);
}

INL double expm1_near_zero(double r) { return mul_add(poly_exp_rest(r), r * r, r); }

// t = n ln2 + r: gives r, and n in the low bits of *shifted.
INL double exp_reduced(double t, private double *shifted)
{
    *shifted = mul_add(t, LOG2_E, ROUNDER);
    double n = *shifted - ROUNDER;
    return FUSED(-n, LN2_LOW, FUSED(-n, LN2, t));
}

// (a + b) 2^n for the n in the low bits of `shifted`, |n| below 2000: in two factors, as the result may be denormal or the
// power beyond what double has.
INL double scaled(double a, double b, double shifted)
{
    ulong n = as_ulong(shifted) - (as_ulong(ROUNDER) - 2046);
    ulong half_of_it = n >> 1;
    double scale = as_double(half_of_it << 52);
    return mul_add(a, scale, b * scale) * as_double((n - half_of_it) << 52);
}

INL double exp_of(double x)
{
    double shifted;
    double r = exp_reduced(bounded(x, -746.0, 710.0), &shifted);
    return scaled(expm1_near_zero(r), 1.0, shifted);
}

// 2^(high + low), |low| far below 1 where the result is neither 0 nor infinite.
INL double exp2_of_sum(double high, double low)
{
    double t = bounded(high, -1080.0, 1030.0);
    double shifted = t + ROUNDER;
    double r = (t - (shifted - ROUNDER)) + (magnitude(high) < 2000.0 ? low : 0.0);
    return scaled(expm1_near_zero(r * LN2), 1.0, shifted);
}

#endif
