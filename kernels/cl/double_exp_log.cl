// 6.15.2 Exponentials and logarithms of double.
#include "double_exp.h"
#include "double_log.h"

OVL double exp(double x) { return exp_of(x); }
OVL double exp2(double x)
{
    double t = bounded(x, -1076.0, 1025.0);
    double shifted = t + ROUNDER;
    return scaled(expm1_near_zero((t - (shifted - ROUNDER)) * LN2), 1.0, shifted);
}
OVL double exp10(double x)
{
    double t = bounded(x, -325.0, 310.0);
    double shifted = mul_add(t, LOG2_10, ROUNDER);
    double n = shifted - ROUNDER;
    double r = FUSED(-n, LOG10_2_LOW, FUSED(-n, LOG10_2, t));
    return scaled(expm1_near_zero(r * LN10), 1.0, shifted);
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
    double e, f = log_parts(x, &e);
    return log_cases(x, mul_add(log_near_one(f), LOG2_E, e));
}
OVL double log10(double x)
{
    double e, f = log_parts(x, &e);
    return log_cases(x, mul_add(e, LOG10_2, mul_add(log_near_one(f), LOG10_E, e * LOG10_2_LOW)));
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
