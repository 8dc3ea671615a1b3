// 6.15.2 Remainders of double: always exact.
#include "double_math.h"

// The exponent of a nonzero finite number, one too small for powers of two at most.
INL ulong field_of(double x) { return as_ulong(x) >> 52; }

// r mod y for finite r of at least 0 and y above, and the low bits of the quotient. A quotient of up to 51 bits, rounded to
// an integer, is right or one too large, and r less that many times y is a number of y's last place below 2^53, which is
// exact. Of a larger one, parts are taken off first that leave the low eight bits alone.
INL double modulo(double r, double y, private ulong *quotient)
{
    while (r >= y * 0x1p51) {
        // y 2^k with a quotient of 43 to 46 bits.
        int normal = y >= 0x1p-1022;
        double base = normal ? y : y * 0x1p54;
        ulong k = field_of(r) - field_of(base) - (normal ? 44 : -10);
        double step = y;
        for (; k > 1000; k -= 1000)
            step *= 0x1p1000;
        step *= as_double((k + 1023) << 52);
        double rest = FUSED(-__builtin_elementwise_trunc(r / step), step, r);
        r = rest < 0.0 ? rest + step : rest;
    }
    double q = __builtin_elementwise_trunc(r / y);
    double rest = FUSED(-q, y, r);
    int over = rest < 0.0;
    *quotient = as_ulong(q + 0x1p52) - (ulong)over;
    return over ? rest + y : rest;
}

// Remainders are defined for finite x and y that is neither zero nor NaN; x is what an infinite y leaves.
INL int is_defined(double x, double y) { return magnitude(x) < INF && y == y && y != 0.0; }

OVL double fmod(double x, double y)
{
    double a = magnitude(x), b = magnitude(y);
    // As in modulo; what is not defined comes to NaN.
    double r = FUSED(-__builtin_elementwise_trunc(a / b), b, a);
    r = r < 0.0 ? r + b : r;
    r = a < b ? a : r;
    if (a >= b * 0x1p51 && is_defined(x, y)) {
        ulong q;
        r = modulo(a, b, &q);
    }
    return with_sign(r, x);
}

// The remainder nearest to zero: above one half of the modulus, or at it with an odd quotient, one more is taken off.
INL double nearest(double x, double y, private ulong *quotient)
{
    int defined = is_defined(x, y);
    double a = magnitude(x), b = magnitude(y);
    ulong q;
    double modulus = defined && b < INF ? b : 1.0;
    double r = modulo(defined && b < INF ? a : 0.0, modulus, &q);
    // Twice the rest is out of range for the largest, half of the modulus is not exact for the smallest.
    double doubled = modulus > 1.0 ? r : r + r, whole = modulus > 1.0 ? modulus * 0.5 : modulus;
    int more = doubled > whole || (doubled == whole && (q & 1) != 0);
    r = b == INF ? a : more ? r - modulus : r;
    *quotient = defined ? (q + (ulong)more) & 0x7f : 0;
    return defined ? flip(r, as_ulong(x) & SIGN_BIT) : QUIET_NAN;
}
OVL double remainder(double x, double y)
{
    ulong q;
    return nearest(x, y, &q);
}
OVL double remquo(double x, double y, private int *quotient)
{
    ulong q;
    double r = nearest(x, y, &q);
    *quotient = as_long(x) < 0 != as_long(y) < 0 ? -(int)q : (int)q;
    return r;
}

MAP2(double, fmod, double, double)
MAP2(double, remainder, double, double)
OUT2(double, remquo, double, double, int)
