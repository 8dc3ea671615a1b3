// 6.15.2 Powers and roots of float and half.
#include "float_math.h"
#include "single.h"

#define FUSED __builtin_elementwise_fma

// (2^r-1)/r in float, its first term in two parts, less that term: [-0.501, 0.501], error 2^-28.5
#define EXP2_FIRST 0x1.62e43p-1f
#define EXP2_FIRST_LOW 0x1.62c818p-26f
INL float poly_exp2_behind(float x)
{
    float p = 0x1.41faap-13f;
    p = mul_add(p, x, 0x1.5f400ep-10f);
    p = mul_add(p, x, 0x1.3b2d52p-7f);
    p = mul_add(p, x, 0x1.c6aee6p-5f);
    p = mul_add(p, x, 0x1.ebfbdcp-3f);
    return p;
}
// 2^(whole + low) - 1 for a sum of up to a half in magnitude. Its own rounding is nearly all that a result is off by, so that
// one which float has exactly, such as an integer to the power of another, is that one.
INL float exp2_of_sum_rest(float whole, float low)
{
    float r = whole + low, r_low = low - (r - whole);
    float small = mul_add(r, EXP2_FIRST_LOW, r_low * EXP2_FIRST);
    return FUSED(r, EXP2_FIRST, mul_add(r * r, poly_exp2_behind(r), small));
}

// log2 of a positive finite float to about 2^-29 of it: what a power needs more than float has is in the first three
// terms, which are double.
INL double wide_log2(float x)
{
    float n, f = log_split_any(x, &n);
    float square = f * f;
    double d = (double)f;
    double l = mul_add(d * d, mul_add(d, 1.0 / 3.0, -0.5), d) + (double)(square * square * poly_log_tail(f));
    return mul_add(l, LOG2_E, (double)n);
}
// |x|^y of a float and a number that double has exactly, below and at zero as told.
INL float magnitude_power(float ax, double y, int below, int zero)
{
    double z = bounded(y * wide_log2(ax), 200.0);
    float counted = (float)z + COUNT_FLOAT;
    double r = z - (double)(counted - COUNT_FLOAT);
    float rest = exp2_of_sum_rest((float)r, (float)(r - (double)(float)r));
    float v = __lockstep_scaled_float(rest, 1.0f, counted);
    float end = (ax == 0.0f) == below ? INFINITY : 0.0f;
    v = ax == 0.0f || ax == INFINITY ? end : v;
    return zero || ax == 1.0f ? 1.0f : v;
}
INL int is_integer(float y) { return __builtin_elementwise_trunc(y) == y; }

// The power r of |x| with what x being negative makes of it.
INL float signed_power(float r, float x, float y)
{
    int whole = is_integer(y);
    r = whole && !is_integer(y * 0.5f) ? __builtin_elementwise_copysign(r, x) : r;
    return x < 0.0f && !is_inf(x) && !whole ? NAN : r;
}
// For every x and y.
INL float any_power(float x, float y)
{
    float r = signed_power(magnitude_power(__builtin_elementwise_abs(x), (double)y, y < 0.0f, y == 0.0f), x, y);
    // 1 to any power and anything to the power 0 are 1 even with NaN; otherwise NaN stays.
    return x == 1.0f || y == 0.0f ? 1.0f : x != x || y != y ? NAN : r;
}

#define LOG2_E_LOW 0x1.4ae0cp-26f
#define THIRD 0x1.555556p-2f
#define THIRD_LOW -0x1.555556p-27f

// log2(x) as a sum, to about 2^-29 of it, for ordinary x. The products and sums whose lost part matters are exact in two
// floats each: f - f^2/2 + f^3/3, that times log2(e), and n added to it.
INL float log2_sum(float x, private float *low)
{
    float n, f = log_split(x, &n);
    float square = f * f, square_low = FUSED(f, f, -square);
    float cube = square * f, cube_low = FUSED(square, f, -cube);
    float third = cube * THIRD, third_low = mul_add(cube, THIRD_LOW, FUSED(cube, THIRD, -third));
    float first = mul_add(-0.5f, square, f);
    float h = first + third;
    float lost = mul_add(-0.5f, square, f - first) + (third - (h - first));
    float small = mul_add(-0.5f, square_low, mul_add(mul_add(square_low, f, cube_low), THIRD, third_low));
    float l = mul_add(square * square, poly_log_tail(f), lost + small);
    float p = h * LOG2_E_FLOAT;
    float p_low = FUSED(h, LOG2_E_FLOAT, -p) + mul_add(l, LOG2_E_FLOAT, h * LOG2_E_LOW);
    float whole = n + p;
    float rest = (p - (whole - n)) + p_low;
    float high = whole + rest;
    *low = rest - (high - whole);
    return high;
}
// What most lanes have: a base that is positive, and a result that is neither large nor small. A negative base costs
// little more.
OVL float pow(float x, float y)
{
    float a = __builtin_elementwise_abs(x);
    float low, high = log2_sum(a, &low);
    float t = y * high;
    float shifted = t + ROUNDER_127;
    float rest = exp2_of_sum_rest(t - (shifted - ROUNDER_127), mul_add(y, low, FUSED(y, high, -t)));
    float scale = as_float(as_int(shifted) << 23);
    float v = mul_add(rest, scale, scale);
    int moderate = __builtin_elementwise_abs(t) < 125.0f;
    if (!(is_ordinary(x) & moderate)) {
        v = signed_power(v, x, y);
        if (!(is_ordinary(a) & moderate))
            v = any_power(x, y);
    }
    return y == 1.0f ? x : v;
}
OVL float pown(float x, int n)
{
    float r = magnitude_power(__builtin_elementwise_abs(x), (double)n, n < 0, n == 0);
    r = n & 1 ? __builtin_elementwise_copysign(r, x) : r;
    return n == 1 || (n != 0 && x != x) ? x : r;
}

OVL float rootn(float x, int n)
{
    double ax = __builtin_elementwise_abs((double)x);
    double r = exp2_core(log2_core(ax) / (double)n);
    r = n & 1 ? __builtin_elementwise_copysign(r, (double)x) : r;
    return n == 0 || (x < 0.0f && !(n & 1)) ? NAN : n == 1 ? x : (float)r;
}
// One over the root, from its pattern's third on: a step of third order, one of second, and one with the root itself.
OVL float cbrt(float x)
{
    float magnitude = __builtin_elementwise_abs(x);
    int tiny = magnitude < 0x1p-126f;
    float a = tiny ? magnitude * 0x1p24f : magnitude;
    float y = as_float(0x54a1f81a - (int)((float)as_int(a) * (1.0f / 3.0f)));
    float h = mul_add(-a * y, y * y, 1.0f);
    y = mul_add(y * h, mul_add(h, 2.0f / 9.0f, 1.0f / 3.0f), y);
    h = mul_add(-a * y, y * y, 1.0f);
    y = mul_add(y * h, 1.0f / 3.0f, y);
    float r = a * y * y;
    // r y is 1 but for three parts of y's error, of which r has two.
    r = mul_add(r * mul_add(-r, y, 1.0f), 2.0f / 3.0f, r);
    r = tiny ? r * 0x1p-8f : r;
    return is_inf(x) || x == 0.0f ? x : __builtin_elementwise_copysign(r, x);
}

// powr is exp(y*log(x)): no negative base, and NaN where the product 0*inf would appear.
OVL float powr(float x, float y)
{
    float r = pow(__builtin_elementwise_abs(x), y);
    int undefined = x < 0.0f || x != x || y != y || (y == 0.0f && (x == 0.0f || is_inf(x))) || (x == 1.0f && is_inf(y));
    return undefined ? NAN : r;
}

FLOAT_AND_HALF1(cbrt)
FLOAT_AND_HALF2(pow)
FLOAT_AND_HALF2(powr)

#define WITH_INT(F)                                                                                                    \
    OVL half F(half x, int n) { return (half)F((float)x, n); }                                                         \
    MAP2(float, F, float, int)                                                                                         \
    MAP2(half, F, half, int)
WITH_INT(pown)
WITH_INT(rootn)
