// 6.15.2 Remainders: always exact.
#include "math.h"

LIBM2(fmod)
LIBM2(remainder)

// |x| mod |y| of two floats, finite and y not 0, in double. A step takes off up to 27 bits of quotient: the product of
// such a partial quotient and a 24-bit significand is exact. The low bits of the whole quotient go to *quotient.
INL double float_modulo(double x, double y, private uint *quotient)
{
    double r = __builtin_elementwise_abs(x);
    y = __builtin_elementwise_abs(y);
    uint q = 0;
    while (r >= y) {
        int shift = exponent_of(r) - exponent_of(y) - 27;
        shift = shift < 0 ? 0 : shift;
        double step = y * power_of_two(shift);
        double part = __builtin_elementwise_trunc(r / step);
        double next = r - part * step;
        int over = next < 0.0;
        r = over ? next + step : next;
        q += shift < 32 ? ((uint)part - (uint)over) << shift : 0;
    }
    *quotient = q;
    return r;
}

#define DEFINED(x, y) (!is_inf(x) && x == x && y == y && y != 0)

OVL float fmod(float x, float y)
{
    uint q;
    int defined = DEFINED(x, y);
    double modulus = defined && !is_inf(y) ? (double)y : 0x1p200;
    double r = float_modulo(defined ? (double)x : 0.0, modulus, &q);
    return defined ? __builtin_elementwise_copysign((float)r, x) : NAN;
}
OVL double fmod(double x, double y) { return __lockstep_libm_fmod(x, y); }
GENERIC2(fmod)

// The remainder nearest to zero: above one half of the modulus, or at it with an odd quotient, one more is taken off.
OVL float remquo(float x, float y, private int *quotient)
{
    uint q;
    int defined = DEFINED(x, y);
    double modulus = defined && !is_inf(y) ? __builtin_elementwise_abs((double)y) : 0x1p200;
    double r = float_modulo(defined ? (double)x : 0.0, modulus, &q);
    int more = r * 2.0 > modulus || (r * 2.0 == modulus && (q & 1));
    r = more ? r - modulus : r;
    q = (q + (uint)more) & 0x7f;
    int negative = (as_int(x) ^ as_int(y)) < 0;
    *quotient = !defined ? 0 : negative ? -(int)q : (int)q;
    float signed_r = as_int(x) < 0 ? -(float)r : (float)r;
    return defined ? signed_r : NAN;
}
OVL double remquo(double x, double y, private int *quotient)
{
    double ax = __builtin_elementwise_abs(x), ay = __builtin_elementwise_abs(y);
    double r = __lockstep_libm_remainder(x, y);
    // 128 |y| divides out what the low seven bits do not show; a larger |y| leaves a quotient below 2^31 anyway.
    double reduced = ay < 0x1p1000 ? __lockstep_libm_fmod(ax, ay * 128.0) : ax;
    double q = __builtin_elementwise_rint((reduced - (as_long(x) < 0 ? -r : r)) / ay);
    int defined = DEFINED(x, y);
    int bits = defined ? (int)q & 0x7f : 0;
    *quotient = (as_long(x) ^ as_long(y)) < 0 ? -bits : bits;
    return r;
}
OVL half remquo(half x, half y, private int *quotient) { return (half)remquo((float)x, (float)y, quotient); }
OUT2(float, remquo, float, float, int)
OUT2(double, remquo, double, double, int)
OUT2(half, remquo, half, half, int)

OVL float remainder(float x, float y)
{
    int q;
    return remquo(x, y, &q);
}
OVL double remainder(double x, double y) { return __lockstep_libm_remainder(x, y); }
GENERIC2(remainder)
