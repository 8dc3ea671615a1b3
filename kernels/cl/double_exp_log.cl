// 6.15.2 Exponentials and logarithms of double.
#include "double_exp.h"
#include "double_log.h"

OVL double exp(double x) { return exp_of(x); }
OVL double exp2(double x)
{
    double t = bounded(x, -1076.0, 1025.0);
#ifdef TABLES
    double counted = t + COUNT_SIXTEENTHS;
    double r = (t - (counted - COUNT_SIXTEENTHS)) * LN2;
    return __lockstep_powered(mul_add(poly_exp_rest_near_zero(r), r * r, r), counted);
#else
    double counted = t + COUNT_DOUBLE;
    return __lockstep_scaled_double(expm1_near_zero((t - (counted - COUNT_DOUBLE)) * LN2), 1.0, counted);
#endif
}
OVL double exp10(double x)
{
    double t = bounded(x, -325.0, 310.0);
    double counted = mul_add(t, LOG2_10, COUNT_DOUBLE);
    double n = counted - COUNT_DOUBLE;
    double r = FUSED(-n, LOG10_2_LOW, FUSED(-n, LOG10_2, t));
    return __lockstep_scaled_double(expm1_near_zero(r * LN10), 1.0, counted);
}
OVL double expm1(double x)
{
    double shifted;
    double r = exp_reduced(bounded(x, -40.0, 710.0), &shifted);
    // The largest power of two is one beyond double's, so it is halved for large x.
    int large = x > 700.0;
    double scale = as_double((as_ulong(shifted) + (large ? 1022 : 1023)) << 52);
    double v = mul_add(expm1_near_zero(r), scale, scale - (large ? 0.5 : 1.0));
    return magnitude(x) < 0x1p-54 ? x : large ? v * 2.0 : v;
}

OVL double log(double x) { return log_of(x); }
OVL double log2(double x)
{
    double e, f = log_split(x, &e);
    return mul_add(log_near_one(f), LOG2_E, e);
}
OVL double log10(double x)
{
    double e, f = log_split(x, &e);
    // log10(2) in two parts of one sign, as e may be infinite. Where e takes off most of it, f's part matters to the last.
    double low = mul_add(log_behind(f), LOG10_E, e * 0x1.e623e2566b02ep-55);
    return mul_add(e, 0x1.34413509f79fep-2, mul_add(f, LOG10_E, low));
}
OVL double log1p(double x) { return log1p_of(x); }

MAP1(double, exp, double)
MAP1(double, exp2, double)
MAP1(double, exp10, double)
MAP1(double, expm1, double)
MAP1(double, log, double)
MAP1(double, log2, double)
MAP1(double, log10, double)
MAP1(double, log1p, double)
