// What the functions of double share. They take no table and few branches, so that they run in the lanes of a kernel that
// is widened. A product whose lost part matters is followed by FUSED, which rounds once; elsewhere mul_add will do.
// The coefficients come from coefficients/double.py; the comment at each polynomial says what it stands for, where, and
// how far the function is off by it, relative to its value.
#ifndef LOCKSTEP_DOUBLE_MATH_H
#define LOCKSTEP_DOUBLE_MATH_H
#include "math.h"

#define FUSED __builtin_elementwise_fma
#define INF ((double)INFINITY)
#define QUIET_NAN ((double)NAN)
#define SIGN_BIT 0x8000000000000000UL

// Adding this rounds to the nearest integer and leaves that integer in the low bits of the pattern.
#define ROUNDER 0x1.8p52

#define LN2 0x1.62e42fefa39efp-1
#define LN2_LOW 0x1.abc9e3b39803fp-56
#define LN10 0x1.26bb1bbb55516p+1
#define LOG2_E 0x1.71547652b82fep+0
#define LOG2_E_LOW 0x1.777d0ffda0d24p-56
#define LOG2_10 0x1.a934f0979a371p+1
#define LOG10_2 0x1.34413509f79ffp-2
#define LOG10_2_LOW -0x1.9dc1da994fd21p-59
#define LOG10_E 0x1.bcb7b1526e50ep-2
#define PI 0x1.921fb54442d18p+1
#define PI_LOW 0x1.1a62633145c07p-53
#define PI_LOWEST -0x1.f1976b7ed8fbcp-109
#define PER_PI 0x1.45f306dc9c883p-2

INL double magnitude(double x) { return __builtin_elementwise_abs(x); }
INL double with_sign(double x, double sign) { return __builtin_elementwise_copysign(x, sign); }
INL double flip(double x, ulong sign) { return as_double(as_ulong(x) ^ sign); }
INL double least(double x, double y) { return y < x ? y : x; }
// One minimum and one maximum of the machine, as the second choice is about the first one's result. NaN stays.
INL double bounded(double x, double low, double high)
{
    double most = x > high ? high : x;
    return most < low ? low : most;
}

// An integer of up to 52 bits, exactly: the way over the pattern needs no conversion, which not every machine has in lanes.
INL double from_bits(ulong n) { return as_double(n | 0x4330000000000000UL) - 0x1p52; }

#endif
