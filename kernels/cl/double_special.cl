// 6.15.2 Error and gamma functions of double.
#include "double_special.h"

OVL double erfc(double x)
{
    double v = erfc_of(magnitude(x));
    return x != x ? x : x < 0.0 ? 2.0 - v : v;
}
OVL double erf(double x)
{
    double a = magnitude(x);
    double v = a < 1.0 ? a * poly_erf(a * a) : erf_from_one(a);
    return x != x ? x : with_sign(v, x);
}

OVL double tgamma(double x) { return gamma_of(x); }
OVL double lgamma(double x) { return log_gamma(x); }
OVL double lgamma_r(double x, private int *sign)
{
    *sign = gamma_sign(x);
    return log_gamma(x);
}

MAP1(double, erf, double)
MAP1(double, erfc, double)
MAP1(double, tgamma, double)
MAP1(double, lgamma, double)
OUT1(double, lgamma_r, double, int)
