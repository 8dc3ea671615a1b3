// What the chapters of the math functions share.
#ifndef LOCKSTEP_MATH_H
#define LOCKSTEP_MATH_H
#include "lockstep.h"

// The vector forms for all three types, half by way of float.
#define GENERIC1(F) MAP1(float, F, float) MAP1(double, F, double) HALF1(F)
#define GENERIC2(F) MAP2(float, F, float, float) MAP2(double, F, double, double) HALF2(F)

// The same without double, whose functions are in files of their own.
#define FLOAT_AND_HALF1(F) MAP1(float, F, float) HALF1(F)
#define FLOAT_AND_HALF2(F) MAP2(float, F, float, float) HALF2(F)

// 2 to the k for a k whose power is a normal number.
INL double power_of_two(int k) { return as_double((ulong)(k + 1023) << 52); }

// The exponent of a nonzero finite |x| as of its normalized form.
INL int exponent_of(double x)
{
    int subnormal = __builtin_elementwise_abs(x) < 0x1p-1022;
    long bits = as_long(subnormal ? x * 0x1p54 : x);
    return (int)(bits >> 52 & 0x7ff) - 1023 - (subnormal ? 54 : 0);
}

// x with its exponent replaced by that of [1, 2), keeping the sign; for nonzero finite x.
INL double significand_of(double x)
{
    int subnormal = __builtin_elementwise_abs(x) < 0x1p-1022;
    long bits = as_long(subnormal ? x * 0x1p54 : x);
    return as_double((bits & (long)0x800fffffffffffffL) | 0x3ff0000000000000L);
}

INL int is_inf(double x) { return __builtin_elementwise_abs(x) == (double)INFINITY; }
INL int is_inf(float x) { return __builtin_elementwise_abs(x) == INFINITY; }

// Whether x is neither negative nor zero, denormal, infinite or NaN: few lanes ask for what is then to be done.
INL int is_ordinary(float x) { return as_uint(x) - 0x00800000u < 0x7f000000u; }

#endif
