// 6.15.2 Remainders of float and half: always exact.
#include "math.h"

#define FUSED __builtin_elementwise_fma

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

// A quotient below 2^22 is a float's, but for one more or less, and what is left of x is a whole number of y's units in the
// last place: a float, and what the fused product gives, where it is less than y.
OVL float fmod(float x, float y)
{
    float ax = __builtin_elementwise_abs(x), ay = __builtin_elementwise_abs(y);
    int defined = DEFINED(x, y);
    float q = __builtin_elementwise_trunc(ax / ay);
    float r = FUSED(-q, ay, ax);
    r = r >= ay ? FUSED(-q - 1.0f, ay, ax) : r;
    r = r < 0.0f ? r + ay : r;
    if (defined && ax >= ay * 0x1p22f) {
        uint low;
        r = (float)float_modulo((double)ax, (double)ay, &low);
    }
    return !defined ? NAN : ay == INFINITY ? x : __builtin_elementwise_copysign(r, x);
}
FLOAT_AND_HALF2(fmod)

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
OVL half remquo(half x, half y, private int *quotient) { return (half)remquo((float)x, (float)y, quotient); }
OUT2(float, remquo, float, float, int)
OUT2(half, remquo, half, half, int)

OVL float remainder(float x, float y)
{
    int q;
    return remquo(x, y, &q);
}
FLOAT_AND_HALF2(remainder)
