// 6.15.2 Inverse trigonometric functions of double, in radians and in half turns. An angle is a multiple of pi/4 and a rest.
#include "double_math.h"

// (atan(z)-z)/z^3 by z^2: [0, 0.17159], error 2^-58.7
INL double poly_atan_rest(double x)
{
    double square = x * x;
    double even = -0x1.259d69bc9b391p-6;
    even = mul_add(even, square, -0x1.9cdc2da168c21p-5);
    even = mul_add(even, square, -0x1.10ebddbba2b19p-4);
    even = mul_add(even, square, -0x1.745cf90b4042bp-4);
    even = mul_add(even, square, -0x1.24924922b1233p-3);
    even = mul_add(even, square, -0x1.555555555553dp-2);
    double odd = 0x1.37ed504f80800p-5;
    odd = mul_add(odd, square, 0x1.df116916f5b00p-5);
    odd = mul_add(odd, square, 0x1.3b111c672ccf4p-4);
    odd = mul_add(odd, square, 0x1.c71c70e7a3832p-4);
    odd = mul_add(odd, square, 0x1.99999999958ebp-3);
    return mul_add(odd, x, even);
}

// (asin(s)-s)/s^3 by s^2: [0, 0.25], error 2^-58.8
INL double poly_asin_rest(double x)
{
    double square = x * x;
    double even = 0x1.0bafb1c7b6a3ep-5;
    even = mul_add(even, square, 0x1.6490ff50793f4p-6);
    even = mul_add(even, square, 0x1.61738e0811eaep-7);
    even = mul_add(even, square, 0x1.ca20cb9c194d2p-7);
    even = mul_add(even, square, 0x1.6e8bdfa4c15fbp-6);
    even = mul_add(even, square, 0x1.6db6db7225d96p-5);
    even = mul_add(even, square, 0x1.5555555555578p-3);
    double odd = -0x1.59523600904c5p-6;
    odd = mul_add(odd, square, 0x1.e2c450d373ae3p-9);
    odd = mul_add(odd, square, 0x1.757b8d0bc4525p-7);
    odd = mul_add(odd, square, 0x1.1c49e2d74fa27p-6);
    odd = mul_add(odd, square, 0x1.f1c71a8dd405cp-6);
    odd = mul_add(odd, square, 0x1.333333332df83p-4);
    return mul_add(odd, x, even);
}

// The angle of k pi/4 + rest in radians and in half turns.
INL double radians_of(double k, double rest) { return mul_add(k, PI * 0.25, mul_add(k, PI_LOW * 0.25, rest)); }
INL double half_turns_of(double k, double rest) { return mul_add(rest, PER_PI, k * 0.25); }

// atan(a/b) for a and b of at least 0: as atan(z), pi/4 + atan(z) or pi/2 + atan(z) with |z| at most tan(pi/8).
INL double atan_parts(double a, double b, private double *k)
{
    int middle = a > 0x1.a827999fcef32p-2 * b, steep = a > 0x1.3504f333f9de6p+1 * b;
    double over = steep ? -b : middle ? a - b : a;
    double under = steep ? a : middle ? a + b : b;
    *k = steep ? 2.0 : middle ? 1.0 : 0.0;
    double z = over / under;
    return mul_add(z * (z * z), poly_atan_rest(z * z), z);
}
INL double atan_rest(double a, private double *k)
{
    return atan_parts(least(a, 0x1p100), 1.0, k);
}
// atan2 for |y| and x: the half plane of negative x is the other's mirror image.
INL double atan2_rest(double a, double x, private double *k)
{
    double b = magnitude(x);
    // Two infinities are as good as two ones, and two zeros as a zero and a one.
    int same = a == b && (a == 0.0 || a == INF);
    double larger = a > b ? a : b;
    // Products of denormals would lose bits.
    double scale = larger > 0x1p1000 ? 0.25 : larger < 0x1p-900 ? 0x1p100 : 1.0;
    double v = atan_parts(same ? least(a, 1.0) : a * scale, same ? 1.0 : b * scale, k);
    int left = as_long(x) < 0;
    *k = left ? 4.0 - *k : *k;
    return left ? -v : v;
}

OVL double atan(double x)
{
    double k, v = atan_rest(magnitude(x), &k);
    return x != x ? x : with_sign(radians_of(k, v), x);
}
OVL double atanpi(double x)
{
    double k, v = atan_rest(magnitude(x), &k);
    return x != x ? x : with_sign(half_turns_of(k, v), x);
}
OVL double atan2(double y, double x)
{
    double k, v = atan2_rest(magnitude(y), x, &k);
    return x != x || y != y ? QUIET_NAN : with_sign(radians_of(k, v), y);
}
OVL double atan2pi(double y, double x)
{
    double k, v = atan2_rest(magnitude(y), x, &k);
    return x != x || y != y ? QUIET_NAN : with_sign(half_turns_of(k, v), y);
}

// Beyond 1/2 by the half angle: asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
INL double asin_rest(double a, private int *large)
{
    *large = a > 0.5;
    double z = *large ? mul_add(a, -0.5, 0.5) : a * a;
    double s = *large ? __builtin_elementwise_sqrt(z) : a;
    double v = mul_add(s * z, poly_asin_rest(z), s);
    return *large ? 2.0 * v : v;
}
INL double acos_rest(double x, private double *k)
{
    int large;
    double v = asin_rest(magnitude(x), &large);
    *k = !large ? 2.0 : x < 0.0 ? 4.0 : 0.0;
    return (x < 0.0) == large ? -v : v;
}
OVL double asin(double x)
{
    int large;
    double v = asin_rest(magnitude(x), &large);
    return with_sign(large ? radians_of(2.0, -v) : v, x);
}
OVL double asinpi(double x)
{
    int large;
    double v = asin_rest(magnitude(x), &large);
    return with_sign(half_turns_of(large ? 2.0 : 0.0, large ? -v : v), x);
}
OVL double acos(double x)
{
    double k, v = acos_rest(x, &k);
    return radians_of(k, v);
}
OVL double acospi(double x)
{
    double k, v = acos_rest(x, &k);
    return half_turns_of(k, v);
}

MAP1(double, asin, double)
MAP1(double, acos, double)
MAP1(double, atan, double)
MAP1(double, asinpi, double)
MAP1(double, acospi, double)
MAP1(double, atanpi, double)
MAP2(double, atan2, double, double)
MAP2(double, atan2pi, double, double)
