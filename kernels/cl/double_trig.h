// Sine and cosine of double: one reduction and one polynomial for half turns, another pair for quarter turns where both
// functions are wanted.
#ifndef LOCKSTEP_DOUBLE_TRIG_H
#define LOCKSTEP_DOUBLE_TRIG_H
#include "double_math.h"

// (sin(r)-r)/r^3 by r^2: [0, 2.46789], error 2^-57.9
INL double poly_sin_rest(double x)
{
    double square = x * x;
    double even = -0x1.ae431772a922ep-41;
    even = mul_add(even, square, -0x1.ae6454cafd868p-26);
    even = mul_add(even, square, -0x1.a01a01a0148a1p-13);
    even = mul_add(even, square, -0x1.5555555555555p-3);
    double odd = 0x1.8828f9b681dfbp-49;
    odd = mul_add(odd, square, 0x1.6123cb11e9467p-33);
    odd = mul_add(odd, square, 0x1.71de3a5287080p-19);
    odd = mul_add(odd, square, 0x1.11111111110c1p-7);
    return mul_add(odd, x, even);
}

// (sin(r)-r)/r^3 by r^2: [0, 0.616974], error 2^-56.4
INL double poly_quarter_sin_rest(double x)
{
    double p = 0x1.5d8fa2c90d810p-33;
    p = mul_add(p, x, -0x1.ae5e59f4b169bp-26);
    p = mul_add(p, x, 0x1.71de356711c24p-19);
    p = mul_add(p, x, -0x1.a01a019bfd187p-13);
    p = mul_add(p, x, 0x1.111111110f7cap-7);
    p = mul_add(p, x, -0x1.5555555555548p-3);
    return p;
}

// (cos(r)-1+r^2/2)/r^4 by r^2: [0, 0.616974], error 2^-59.9
INL double poly_quarter_cos_rest(double x)
{
    double p = -0x1.8fae9d0680c17p-37;
    p = mul_add(p, x, 0x1.1ee9ebea50eadp-29);
    p = mul_add(p, x, -0x1.27e4f809f26e7p-22);
    p = mul_add(p, x, 0x1.a01a019cb1c08p-16);
    p = mul_add(p, x, -0x1.6c16c16c1517ep-10);
    p = mul_add(p, x, 0x1.555555555554cp-5);
    return p;
}

// For r up to pi/2, around which roundings may add up to one unit more than 1.
INL double sin_near_zero(double r) { return mul_add(r * (r * r), poly_sin_rest(r * r), r); }
// Not beyond 1.
INL double bounded_sin_near_zero(double r) { return bounded(sin_near_zero(r), -1.0, 1.0); }

// Below this, the nearest multiple of pi or pi/2 is an exact product's distance away; the worst case of cancellation, of
// some 62 bits, leaves the third part of pi good for all bits.
#define LARGE_ANGLE 0x1p36

// 1/(2 pi) behind one word of integer part.
static constant uint TURNS_PER_RADIAN[] = {
    0x00000000, 0x28be60db, 0x9391054a, 0x7f09d5f4, 0x7d4d3770, 0x36d8a566, 0x4f10e410, 0x7f9458ea,
    0xf7aef158, 0x6dc91b8e, 0x909374b8, 0x01924bba, 0x82746487, 0x3f877ac7, 0x2c4a69cf, 0xba208d7d,
    0x4baed121, 0x3a671c09, 0xad17df90, 0x4e64758e, 0x60d4ce7d, 0x272117e2, 0xef7e4a0e, 0xc7fe25ff,
    0xf7816603, 0xfbcbc462, 0xd6829b47, 0xdb4d9fb3, 0xc9f2c26d, 0xd3d18fd9, 0xa797fa8b, 0x5d49eeb1,
    0xfaf97c5e, 0xcf41ce7d, 0xe294a4ba, 0x9afed7ec, 0x47e35742, 0x1580cc11};

INL ulong low_word(ulong x) { return x & 0xffffffffUL; }

// x minus the nearest multiple of pi (`parts` 2) or pi/2 (`parts` 4), with the parity of the multiple, or the multiple
// modulo 4, in *multiple; x of LARGE_ANGLE and above. The nearest multiple is that of x + offset, a fraction of a turn in
// 64 bits, and x + offset is what it is subtracted from. (Payne & Hanek 1983)
INL double reduce_large(double x, ulong offset, int parts, private ulong *multiple)
{
    ulong bits = as_ulong(x);
    // Of the product of x and 1/(2 pi) the integer part does not matter: 192 bits, from where their product with the
    // exponent's power is below 1, times the significand.
    uint first = (uint)(bits >> 52) - 1023 - 52 + 32;
    uint word = first >> 5, shift = first & 31;
    ulong w[7];
    for (int i = 0; i < 7; i++)
        w[i] = TURNS_PER_RADIAN[word + i];
    for (int i = 0; i < 6; i++)
        w[i] = low_word((w[i] << 32 | w[i + 1]) << shift >> 32);
    ulong high = (bits >> 32 & 0xfffff) | 0x100000, low = low_word(bits);
    // Columns of 32 bits, the carry of the last one left out.
    ulong c4 = low_word(low * w[4]) + (low * w[5] >> 32) + low_word(high * w[5]);
    ulong c3 = low_word(low * w[3]) + (low * w[4] >> 32) + low_word(high * w[4]) + (high * w[5] >> 32) + (c4 >> 32);
    ulong c2 = low_word(low * w[2]) + (low * w[3] >> 32) + low_word(high * w[3]) + (high * w[4] >> 32) + (c3 >> 32);
    ulong c1 = low_word(low * w[1]) + (low * w[2] >> 32) + low_word(high * w[2]) + (high * w[3] >> 32) + (c2 >> 32);
    ulong c0 = low_word(low * w[0]) + (low * w[1] >> 32) + low_word(high * w[1]) + (high * w[2] >> 32) + (c1 >> 32);
    ulong turn = (c0 << 32 | low_word(c1)) + offset;
    int kept = parts == 2 ? 63 : 62;
    ulong rounded = turn + (1UL << (kept - 1));
    *multiple = rounded >> kept;
    // What is left, with its sign, in parts that doubles hold.
    ulong rest = turn - (rounded >> kept << kept);
    double a = (from_bits((rest >> 32) ^ 0x80000000UL) - 0x1p31) * 0x1p32;
    double b = from_bits(low_word(rest));
    double c = from_bits(low_word(c2)) * 0x1p-32 + from_bits(low_word(c3)) * 0x1p-64;
    double sum = a + b;
    double sum_low = (b - (sum - a)) + c;
    double v = sum + sum_low, v_low = sum_low - (v - sum);
    double r = FUSED(v, PI, mul_add(v, PI_LOW, v_low * PI)) * 0x1p-63;
    // Infinity and NaN become NaN.
    return r + (x - x);
}

// |x| minus the nearest multiple of pi, whose parity *odd is; |x| - pi/2 if `cosine`.
INL double half_turns(double a, int cosine, private ulong *odd)
{
    double half_of_one = cosine ? 0.5 : 0.0;
    double shifted = cosine ? mul_add(a, PER_PI, -0.5) + ROUNDER : mul_add(a, PER_PI, ROUNDER);
    double n = (shifted - ROUNDER) + half_of_one;
    double r = FUSED(-n, PI_LOWEST, FUSED(-n, PI_LOW, FUSED(-n, PI, a)));
    ulong multiple = as_ulong(shifted);
    if (a >= LARGE_ANGLE)
        r = reduce_large(a, cosine ? 0xc000000000000000UL : 0, 2, &multiple);
    *odd = multiple << 63;
    return r;
}

INL double sin_of(double x)
{
    ulong odd;
    double r = half_turns(magnitude(x), 0, &odd);
    return flip(bounded_sin_near_zero(r), odd ^ (as_ulong(x) & SIGN_BIT));
}
INL double cos_of(double x)
{
    ulong odd;
    double r = half_turns(magnitude(x), 1, &odd);
    return flip(bounded_sin_near_zero(r), odd ^ SIGN_BIT);
}

// Sine and cosine of |x| minus the nearest multiple of pi/2, the multiple modulo 4 in the low bits of *quarter.
INL double quarter_turns(double a, private double *cosine, private ulong *quarter)
{
    double shifted = mul_add(a, 2.0 * PER_PI, ROUNDER);
    double n = shifted - ROUNDER;
    double r = FUSED(-n, PI_LOWEST * 0.5, FUSED(-n, PI_LOW * 0.5, FUSED(-n, PI * 0.5, a)));
    *quarter = as_ulong(shifted);
    if (a >= LARGE_ANGLE)
        r = reduce_large(a, 0, 4, quarter);
    double square = r * r;
    *cosine = mul_add(square * square, poly_quarter_cos_rest(square), mul_add(square, -0.5, 1.0));
    return mul_add(r * square, poly_quarter_sin_rest(square), r);
}

// The distance of |x| from the nearest integer, and whether that is odd.
INL double from_integer(double a, private int *odd)
{
    double n = __builtin_elementwise_rint(a);
    *odd = mul_add(__builtin_elementwise_rint(n * 0.5), -2.0, n) != 0.0;
    return a - n;
}
INL double sinpi_of(double x)
{
    int odd;
    double d = from_integer(magnitude(x), &odd);
    double v = bounded_sin_near_zero(d * PI);
    return flip(odd && d != 0.0 ? -v : v, as_ulong(x) & SIGN_BIT);
}

#endif
