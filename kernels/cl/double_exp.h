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

// t = n ln2 + r: gives r, and n by way of *counted.
INL double exp_counted(double t, private double *counted)
{
    *counted = mul_add(t, LOG2_E, COUNT_DOUBLE);
    double n = *counted - COUNT_DOUBLE;
    return FUSED(-n, LN2_LOW, FUSED(-n, LN2, t));
}
// The same with n in the low bits of *shifted.
INL double exp_reduced(double t, private double *shifted)
{
    *shifted = mul_add(t, LOG2_E, ROUNDER);
    double n = *shifted - ROUNDER;
    return FUSED(-n, LN2_LOW, FUSED(-n, LN2, t));
}

// (exp(r)-1-r)/r^2 around zero: [-0.0217042, 0.0217042], error 2^-56.2
INL double poly_exp_rest_near_zero(double x)
{
    double square = x * x;
    double rest = mul_add(0x1.6c14c567b838bp-10, square, mul_add(0x1.11123bdfa1c19p-7, x, 0x1.5555555903114p-5));
    return mul_add(rest, square, mul_add(0x1.555555548df28p-3, x, 0x1.fffffffffffb8p-2));
}

#ifdef TABLES
INL double exp_of(double x)
{
    double t = bounded(x, -746.0, 710.0);
    double counted = mul_add(t, LOG2_E, COUNT_SIXTEENTHS);
    double n = counted - COUNT_SIXTEENTHS;
    double r = FUSED(-n, LN2_LOW, FUSED(-n, LN2, t));
    return __lockstep_powered(mul_add(poly_exp_rest_near_zero(r), r * r, r), counted);
}
#else
INL double exp_of(double x)
{
    double counted;
    double r = exp_counted(bounded(x, -746.0, 710.0), &counted);
    return __lockstep_scaled_double(expm1_near_zero(r), 1.0, counted);
}
#endif

// 2^(whole + low) - 1 for a sum of up to a half in magnitude. Only its own rounding matters to a result that double has
// exactly, such as an integer to the power of another: what the sum and the product lose is added.
INL double exp2_of_sum_rest(double whole, double low)
{
    double r = whole + low, r_low = low - (r - whole);
    double t = r * LN2;
    double t_low = FUSED(r, LN2, -t) + mul_add(r, LN2_LOW, r_low * LN2);
    return mul_add(poly_exp_rest(t), t * t, t_low) + t;
}

// 2^(high + low), |low| far below 1 where the result is neither 0 nor infinite.
INL double exp2_of_sum(double high, double low)
{
    double t = bounded(high, -1080.0, 1030.0);
    double counted = t + COUNT_DOUBLE;
    double rest = exp2_of_sum_rest(t - (counted - COUNT_DOUBLE), magnitude(high) < 2000.0 ? low : 0.0);
    return __lockstep_scaled_double(rest, 1.0, counted);
}

#endif
