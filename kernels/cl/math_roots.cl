// 6.15.2 Fused multiply-add, square roots, hypot.
#include "convert.h"
#include "math.h"

// --- fma ------------------------------------------------------------------------------------------------------------
#define FMA(T, N)                                                                                                      \
    OVL T##N fma(T##N a, T##N b, T##N c) { return __builtin_elementwise_fma(a, b, c); }
FOR_LENGTHS(FMA, float)
FOR_LENGTHS(FMA, double)

// The product of two halves is exact in double; the sum is rounded to odd there, so that the rounding to half sees
// what was lost.
OVL half fma(half a, half b, half c)
{
    double product = (double)a * (double)b, addend = (double)c;
    double sum = product + addend;
    double back = sum - product;
    double lost = (product - (sum - back)) + (addend - back);
    long bits = as_long(sum);
    int adjust = lost != 0.0 && lost == lost && (bits & 1) == 0;
    bits += !adjust ? 0 : (lost > 0.0) == (sum > 0.0) ? 1 : -1;
    return to_half_rte(as_double(bits));
}
MAP3(half, fma, half, half, half)

// --- roots ----------------------------------------------------------------------------------------------------------
#define SQRT(T, N) OVL T##N sqrt(T##N x) { return __builtin_elementwise_sqrt(x); }
FOR_LENGTHS(SQRT, float)
FOR_LENGTHS(SQRT, double)
#define RSQRT(T, N) OVL T##N rsqrt(T##N x) { return (T##N)(T)1 / __builtin_elementwise_sqrt(x); }
FOR_LENGTHS(RSQRT, float)
HALF1(sqrt)
HALF1(rsqrt)

// The larger one's power of two is taken off before squaring, as far as its reciprocal is a normal number.
INL float scaled_hypot(float x, float y)
{
    float ax = __builtin_elementwise_abs(x), ay = __builtin_elementwise_abs(y);
    float m = ax > ay ? ax : ay;
    m = m < 0x1p-126f ? 0x1p-126f : m > 0x1p125f ? 0x1p125f : m;
    int power = as_int(m) & 0x7f800000;
    float scale = as_float(0x7f000000 - power);
    float sx = x * scale, sy = y * scale;
    float r = __builtin_elementwise_sqrt(mul_add(sx, sx, sy * sy)) * as_float(power);
    return is_inf(x) || is_inf(y) ? INFINITY : r;
}
// Where the squares' sum lies between 2^-95 and 2^127, what they may have lost by being denormal does not show.
OVL float hypot(float x, float y)
{
    float square = mul_add(x, x, y * y);
    float r = __builtin_elementwise_sqrt(square);
    if (as_uint(square) - 0x10000000u >= 0x6f000000u)
        r = scaled_hypot(x, y);
    return r;
}
FLOAT_AND_HALF2(hypot)
