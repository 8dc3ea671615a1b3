// 6.15.2 Error and gamma functions.
#include "math.h"

FROM_LIBM(erf)
FROM_LIBM(erfc)
FROM_LIBM(lgamma)
FROM_LIBM(tgamma)

// The gamma function is negative between -1 and 0, between -3 and -2 and so on; -0 counts as just below 0.
INL int gamma_sign(double x)
{
    double f = __builtin_elementwise_floor(x);
    int odd = f != 2.0 * __builtin_elementwise_floor(f * 0.5);
    int negative = x < 0.0 ? f != x && odd : as_long(x) == LONG_MIN;
    return negative ? -1 : 1;
}
#define LGAMMA_R(T)                                                                                                    \
    OVL T lgamma_r(T x, private int *sign)                                                                             \
    {                                                                                                                  \
        *sign = gamma_sign((double)x);                                                                                 \
        return lgamma(x);                                                                                              \
    }                                                                                                                  \
    OUT1(T, lgamma_r, T, int)
LGAMMA_R(float)
LGAMMA_R(double)
LGAMMA_R(half)
