// 6.15.2 Trigonometric functions and their inverses, in radians and in half turns.
#include "math.h"

FROM_LIBM(sin)
FROM_LIBM(cos)
FROM_LIBM(tan)
FROM_LIBM(asin)
FROM_LIBM(acos)
FROM_LIBM(atan)

OVL float atan2(float y, float x) { return (float)__lockstep_libm_atan2((double)y, (double)x); }
OVL double atan2(double y, double x) { return __lockstep_libm_atan2(y, x); }
GENERIC2(atan2)

#define SINCOS(T)                                                                                                      \
    OVL T sincos(T x, private T *c)                                                                                    \
    {                                                                                                                  \
        *c = cos(x);                                                                                                   \
        return sin(x);                                                                                                 \
    }                                                                                                                  \
    OUT1(T, sincos, T, T)
SINCOS(float)
SINCOS(double)
SINCOS(half)

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
INL double turn_sin(double x)
{
    long q;
    double r = quarter_turns(x, &q);
    double s = __lockstep_libm_sin(r), c = __lockstep_libm_cos(r);
    double v = q & 1 ? c : s;
    v = q & 2 ? -v : v;
    v = v == 0.0 ? __builtin_elementwise_copysign(0.0, x) : v;
    return is_inf(x) || x != x ? (double)NAN : v;
}
INL double turn_cos(double x)
{
    long q;
    double r = quarter_turns(x, &q);
    double s = __lockstep_libm_sin(r), c = __lockstep_libm_cos(r);
    double v = q & 1 ? -s : c;
    v = q & 2 ? -v : v;
    v = v == 0.0 ? 0.0 : v;
    return is_inf(x) || x != x ? (double)NAN : v;
}
// At integers a zero whose sign follows the argument's where even and opposes it where odd; at n + 1/2 an infinity,
// positive for even n.
INL double turn_tan(double x)
{
    long q;
    double r = quarter_turns(x, &q);
    double t = __lockstep_libm_tan(r);
    double zero = __builtin_elementwise_copysign(0.0, q & 2 ? -x : x);
    double pole = q & 2 ? -(double)INFINITY : (double)INFINITY;
    double v = q & 1 ? (r == 0.0 ? pole : -1.0 / t) : (r == 0.0 ? zero : t);
    return is_inf(x) || x != x ? (double)NAN : v;
}
OVL double sinpi(double x) { return turn_sin(x); }
OVL double cospi(double x) { return turn_cos(x); }
OVL double tanpi(double x) { return turn_tan(x); }
OVL float sinpi(float x) { return (float)turn_sin((double)x); }
OVL float cospi(float x) { return (float)turn_cos((double)x); }
OVL float tanpi(float x) { return (float)turn_tan((double)x); }
GENERIC1(sinpi)
GENERIC1(cospi)
GENERIC1(tanpi)

#define PER_PI(F)                                                                                                      \
    OVL double F##pi(double x) { return __lockstep_libm_##F(x) * M_1_PI; }                                             \
    OVL float F##pi(float x) { return (float)(__lockstep_libm_##F((double)x) * M_1_PI); }                              \
    GENERIC1(F##pi)
PER_PI(asin)
PER_PI(acos)
PER_PI(atan)
OVL double atan2pi(double y, double x) { return __lockstep_libm_atan2(y, x) * M_1_PI; }
OVL float atan2pi(float y, float x) { return (float)(__lockstep_libm_atan2((double)y, (double)x) * M_1_PI); }
GENERIC2(atan2pi)
