// 6.15.2 Powers and roots.
#include "math.h"

FROM_LIBM(cbrt)

OVL float pow(float x, float y) { return (float)__lockstep_libm_pow((double)x, (double)y); }
OVL double pow(double x, double y) { return __lockstep_libm_pow(x, y); }
GENERIC2(pow)

// An int exponent is exact in double.
OVL float pown(float x, int n) { return (float)__lockstep_libm_pow((double)x, (double)n); }
OVL double pown(double x, int n) { return __lockstep_libm_pow(x, (double)n); }
OVL half pown(half x, int n) { return (half)pown((float)x, n); }
MAP2(float, pown, float, int)
MAP2(double, pown, double, int)
MAP2(half, pown, half, int)

// powr is exp(y*log(x)): no negative base, and NaN where the product 0*inf would appear.
#define POWR(T)                                                                                                        \
    OVL T powr(T x, T y)                                                                                               \
    {                                                                                                                  \
        T r = pow(__builtin_elementwise_abs(x), y);                                                                    \
        int undefined = x < (T)0 || x != x || y != y || (y == (T)0 && (x == (T)0 || is_inf(x))) ||                     \
                        (x == (T)1 && is_inf(y));                                                                      \
        return undefined ? (T)NAN : r;                                                                                 \
    }
POWR(float)
POWR(double)
GENERIC2(powr)

// 1/n as a double and the part that the double lost; the lost part matters where the logarithm is large.
INL double root(double x, int n)
{
    double d = (double)n;
    double ax = __builtin_elementwise_abs(x);
    double y = 1.0 / d;
    double lost = __builtin_elementwise_fma(-y, d, 1.0) / d;
    double r = __lockstep_libm_pow(ax, y);
    double correction = lost * __lockstep_libm_log(ax);
    r = ax > 0.0 && !is_inf(ax) ? r + r * correction : r;
    int odd = n & 1;
    r = odd ? __builtin_elementwise_copysign(r, x) : r;
    return n == 0 || (x < 0.0 && !odd) ? (double)NAN : r;
}
OVL double rootn(double x, int n) { return root(x, n); }
OVL float rootn(float x, int n) { return (float)root((double)x, n); }
OVL half rootn(half x, int n) { return (half)rootn((float)x, n); }
MAP2(float, rootn, float, int)
MAP2(double, rootn, double, int)
MAP2(half, rootn, half, int)
