// 6.15.2 Trigonometric functions and their inverses, in radians and in half turns.
#include "float_math.h"
#include "single.h"

// Arguments are reduced in float; far ones in double, by code that gangs pass over unless one of them is far.
INL int is_far(float x) { return !(__builtin_elementwise_abs(x) < NEAR); }

// The argument of sin_near for r and so many quarters of a turn, and whether its result is negated (bit 0).
INL float far_sine_argument(double r, int quarter, private int *flip)
{
    *flip = quarter >> 1;
    return (float)(quarter & 1 ? PI / 2.0 - __builtin_elementwise_abs(r) : r);
}
// The sine of x and a quarter of a turn or none, from what sin_near is called with where x is not far.
INL float sine_of(float x, float near, int flip, int quarters)
{
    if (is_far(x)) {
        int quarter;
        double far = reduce(x, &quarter);
        near = far_sine_argument(far, quarter + quarters, &flip);
    }
    return sin_near(near, flip);
}
OVL float sin(float x)
{
    int flip;
    float r = sine_argument(x, &flip);
    return sine_of(x, r, flip, 0);
}
OVL float cos(float x)
{
    int flip;
    float r = cosine_argument(x, &flip);
    return sine_of(x, r, flip, 1);
}
OVL float tan(float x)
{
    int odd;
    float r = tangent_argument(x, &odd);
    if (is_far(x))
        r = (float)reduce(x, &odd);
    return tan_near(r, odd);
}
OVL float asin(float x) { return (float)asin_core((double)x); }
OVL float acos(float x) { return (float)acos_core((double)x); }

FLOAT_AND_HALF1(sin)
FLOAT_AND_HALF1(cos)
FLOAT_AND_HALF1(tan)
FLOAT_AND_HALF1(asin)
FLOAT_AND_HALF1(acos)

// In the eighth of the plane where the quotient is at most 1; the others are its mirror images. Pi and its half in two parts.
OVL float atan2(float y, float x)
{
    float ax = __builtin_elementwise_abs(x), ay = __builtin_elementwise_abs(y);
    int steep = ay > ax;
    float low = steep ? ax : ay, high = steep ? ay : ax;
    // Equal ones may be zeros or infinities; NaN is equal to nothing.
    float z = low == high ? (high == 0.0f ? 0.0f : 1.0f) : low / high;
    float square = z * z;
    float v = mul_add(poly_atan_rest(square) * square, z, z);
    v = steep ? (0x1.921fb6p+0f - v) - 0x1.777a5cp-25f : v;
    v = as_int(x) < 0 ? (0x1.921fb6p+1f - v) - 0x1.777a5cp-24f : v;
    return __builtin_elementwise_copysign(v, y);
}
FLOAT_AND_HALF2(atan2)
OVL float atan(float x) { return atan2(x, 1.0f); }
FLOAT_AND_HALF1(atan)

OVL float sincos(float x, private float *c)
{
    int flip, cosine_flip;
    float r = sine_argument(x, &flip), cosine_r = cosine_argument(x, &cosine_flip);
    if (is_far(x)) {
        int quarter;
        double far = reduce(x, &quarter);
        r = far_sine_argument(far, quarter, &flip);
        cosine_r = far_sine_argument(far, quarter + 1, &cosine_flip);
    }
    *c = sin_near(cosine_r, cosine_flip);
    return sin_near(r, flip);
}
OVL half sincos(half x, private half *c)
{
    float cosine, sine = sincos((float)x, &cosine);
    *c = (half)cosine;
    return (half)sine;
}
OUT1(float, sincos, float, float)
OUT1(half, sincos, half, half)

// --- half turns -----------------------------------------------------------------------------------------------------
// The argument minus the nearest multiple of 1/2 is exact, and the multiple's parity chooses the function; every
// number of 2^53 and above is an even integer.
INL double quarter_turns(double x, private long *quarter)
{
    double bounded = __builtin_elementwise_abs(x) < 0x1p53 ? x : 0.0;
    double q = __builtin_elementwise_rint(bounded * 2.0);
    *quarter = (long)q;
    return (bounded - q * 0.5) * M_PI;
}
#define TURNS(T, SIN, COS, TAN)                                                                                        \
    OVL T sinpi(T x)                                                                                                   \
    {                                                                                                                  \
        long q;                                                                                                        \
        double r = quarter_turns((double)x, &q);                                                                       \
        double v = q & 1 ? COS(r) : SIN(r);                                                                            \
        v = q & 2 ? -v : v;                                                                                            \
        v = v == 0.0 ? __builtin_elementwise_copysign(0.0, (double)x) : v;                                             \
        return is_inf(x) || x != x ? (T)NAN : (T)v;                                                                    \
    }                                                                                                                  \
    OVL T cospi(T x)                                                                                                   \
    {                                                                                                                  \
        long q;                                                                                                        \
        double r = quarter_turns((double)x, &q);                                                                       \
        double v = q & 1 ? -SIN(r) : COS(r);                                                                           \
        v = q & 2 ? -v : v;                                                                                            \
        v = v == 0.0 ? 0.0 : v;                                                                                        \
        return is_inf(x) || x != x ? (T)NAN : (T)v;                                                                    \
    }                                                                                                                  \
    /* At integers a zero whose sign follows the argument's where even and opposes it where odd; at n + 1/2 an         \
       infinity, positive for even n. */                                                                               \
    OVL T tanpi(T x)                                                                                                   \
    {                                                                                                                  \
        long q;                                                                                                        \
        double r = quarter_turns((double)x, &q);                                                                       \
        double t = TAN(r);                                                                                             \
        double zero = __builtin_elementwise_copysign(0.0, q & 2 ? -(double)x : (double)x);                             \
        double pole = q & 2 ? -(double)INFINITY : (double)INFINITY;                                                    \
        double v = q & 1 ? (r == 0.0 ? pole : -1.0 / t) : (r == 0.0 ? zero : t);                                       \
        return is_inf(x) || x != x ? (T)NAN : (T)v;                                                                    \
    }
INL double tan_kernel(double r) { return sin_kernel(r) / cos_kernel(r); }
TURNS(float, sin_kernel, cos_kernel, tan_kernel)
FLOAT_AND_HALF1(sinpi)
FLOAT_AND_HALF1(cospi)
FLOAT_AND_HALF1(tanpi)

#define PER_PI(F)                                                                                                      \
    OVL float F##pi(float x) { return (float)(F##_core((double)x) * M_1_PI); }                                         \
    FLOAT_AND_HALF1(F##pi)
PER_PI(asin)
PER_PI(acos)
PER_PI(atan)
OVL float atan2pi(float y, float x) { return (float)(atan2_core((double)y, (double)x) * M_1_PI); }
FLOAT_AND_HALF2(atan2pi)
