// 6.15.2 Trigonometric functions of double, in radians and in half turns.
#include "double_trig.h"

OVL double sin(double x) { return sin_of(x); }
OVL double cos(double x) { return cos_of(x); }
OVL double tan(double x)
{
    ulong quarter;
    double c, s = quarter_turns(magnitude(x), &c, &quarter);
    int odd = (quarter & 1) != 0;
    double v = (odd ? -c : s) / (odd ? s : c);
    return flip(v, as_ulong(x) & SIGN_BIT);
}
OVL double sincos(double x, private double *cosine)
{
    ulong quarter;
    double c, s = quarter_turns(magnitude(x), &c, &quarter);
    int odd = (quarter & 1) != 0;
    *cosine = flip(odd ? s : c, ((quarter + 1) & 2) << 62);
    return flip(odd ? c : s, ((quarter & 2) << 62) ^ (as_ulong(x) & SIGN_BIT));
}

OVL double sinpi(double x) { return sinpi_of(x); }
OVL double cospi(double x)
{
    int odd;
    double d = 0.5 - magnitude(from_integer(magnitude(x), &odd));
    double v = least(sin_near_zero(d * PI), 1.0);
    return odd && d != 0.0 ? -v : v;
}
// At integers a zero whose sign follows the argument's where even and opposes it where odd; at n + 1/2 an infinity, positive
// for even n, which is the sign of the distance from the even neighbour.
OVL double tanpi(double x)
{
    int odd;
    double d = from_integer(magnitude(x), &odd);
    double v = sin_near_zero(d * PI) / sin_near_zero((0.5 - magnitude(d)) * PI);
    return flip(odd && d == 0.0 ? -v : v, as_ulong(x) & SIGN_BIT);
}

MAP1(double, sin, double)
MAP1(double, cos, double)
MAP1(double, tan, double)
OUT1(double, sincos, double, double)
MAP1(double, sinpi, double)
MAP1(double, cospi, double)
MAP1(double, tanpi, double)
