#!/usr/bin/env python3
"""Derives the polynomial coefficients in cl/float_math.h, cl/single.h, cl/math_pow.cl and cl/math_native.cl.

For each function a minimax polynomial in a chosen basis with a chosen error weight; prints C initialisers rounded to
the working type and the largest weighted error of the rounded polynomial.
Run it with mpmath installed: python3 minimax.py
"""
from mpmath import atan, asin, cos, exp, expm1, log, log1p, mp, mpf, pi, sin, sqrt, tan

from remez import show, to_float


def ratio(f, limit):
    """f(x)/x with its limit at 0."""
    return lambda x: limit if x == 0 else f(x) / x


def even_ratio(f, limit):
    """f(sqrt(x))/sqrt(x): the factor of an odd function, as a function of the square."""
    return lambda x: limit if x == 0 else f(sqrt(x)) / sqrt(x)


def relative(f):
    return lambda x: 1 / abs(f(x))


ONE = lambda x: mpf(1)
HALF_LN2 = log(2) / 2
R2 = sqrt(mpf(2))

# In double, for float functions: a relative error well below 2^-32 leaves the final rounding alone to matter.
f = ratio(expm1, mpf(1))
show("(exp(r)-1)/r", f, -HALF_LN2 * mpf("1.01"), HALF_LN2 * mpf("1.01"), range(8), relative(f))
f = ratio(log1p, mpf(1))
show("log(1+f)/f", f, 1 / R2 - 1 - mpf("1e-3"), R2 - 1 + mpf("1e-3"), range(14), relative(f))
f = even_ratio(sin, mpf(1))
show("sin(r)/r by r^2", f, 0, (pi / 4 * mpf("1.01")) ** 2, range(5), relative(f))
f = lambda x: cos(sqrt(x))
show("cos(r) by r^2", f, 0, (pi / 4 * mpf("1.01")) ** 2, range(6), relative(f))
f = even_ratio(atan, mpf(1))
show("atan(r)/r by r^2", f, 0, mpf(1), range(13), relative(f))
f = even_ratio(asin, mpf(1))
show("asin(r)/r by r^2", f, 0, mpf("0.2501"), range(8), relative(f))

# In float, for functions computed in float alone: what is left behind the terms that are added by themselves.
f = lambda x: mpf(1) / 2 if abs(x) < mpf("1e-25") else (expm1(x) - x) / x**2
show(
    "(exp(r)-1-r)/r^2 in float", f, -HALF_LN2 * mpf("1.01"), HALF_LN2 * mpf("1.01"), range(5),
    lambda x: x * x / exp(x) + mpf("1e-12"), to_float,
)
THIRD = mpf(1) / 3 + mpf("1e-4")
f = lambda x: mpf(1) / 3 if abs(x) < mpf("1e-25") else (log1p(x) - x + x * x / 2) / x**3
show(
    "(log(1+f)-f+f^2/2)/f^3 in float", f, -THIRD, THIRD, range(8),
    lambda x: mpf("1e-9") + (abs(x**3 / log1p(x)) if x else 0), to_float,
)

f = lambda x: log(2) if abs(x) < mpf("1e-25") else expm1(x * log(2)) / x
show(
    "(2^r-1)/r in float", f, -0.501, 0.501, range(6), lambda x: abs(x) / mpf(2) ** x + mpf("1e-12"), to_float
)
show(
    "(2^r-1)/r in float, its first term in two parts", f, -0.501, 0.501, range(6),
    lambda x: abs(x) / mpf(2) ** x + mpf("1e-12"), to_float, split=1,
)
f = lambda x: -mpf(1) / 4 if abs(x) < mpf("1e-12") else (log1p(x) - x + x * x / 2 - x**3 / 3) / x**4
show(
    "(log(1+f)-f+f^2/2-f^3/3)/f^4 in float", f, -THIRD, THIRD, range(8),
    lambda x: mpf("1e-12") + (abs(x**4 / log1p(x)) if x else 0), to_float,
)


def odd_rest(f, limit):
    """(f(r)-r)/r^3 of an odd function, as a function of the square."""
    return lambda q: limit if q < mpf("1e-16") else (f(sqrt(q)) - sqrt(q)) / (sqrt(q) * q)


def odd_weight(f):
    return lambda q: (q * sqrt(q) / f(sqrt(q)) if q > 0 else 0) + mpf("1e-9")


f = odd_rest(sin, -mpf(1) / 6)
show("(sin(r)-r)/r^3 by r^2 in float", f, 0, (pi / 2 * mpf("1.0005")) ** 2, range(4), odd_weight(sin), to_float)
# Half a unit less than 1 where the sine is that.
g = lambda q: f(q) - mpf("1.25") / mpf(2) ** 31 * q**3
show("(sin(r)-r)/r^3-1.25*2^-31*r^6 by r^2 in float", g, 0, (pi / 2 * mpf("1.0005")) ** 2, range(4), odd_weight(sin), to_float)
f = odd_rest(tan, mpf(1) / 3)
show("(tan(r)-r)/r^3 by r^2 in float", f, 0, (pi / 4 * mpf("1.0005")) ** 2, range(6), odd_weight(tan), to_float)
f = odd_rest(atan, -mpf(1) / 3)
show("(atan(r)-r)/r^3 by r^2 in float", f, 0, mpf(1), range(8), odd_weight(atan), to_float)

# 2/pi in 32-bit words behind one word of integer part, for the reduction of large arguments.
print("// 2/pi:", ", ".join(f"0x{int(mp.floor(2 / pi * mpf(2) ** (32 * i))) & 0xFFFFFFFF:08x}" for i in range(9)))

# In float, for the native functions, and shorter for the half ones.
f = lambda x: log(2) if abs(x) < mpf("1e-25") else expm1(x * log(2)) / x
show("native (2^r-1)/r", f, -0.5, 0.5, range(4), lambda x: abs(x) / mpf(2) ** x + mpf("1e-12"), to_float)
show("half (2^r-1)/r", f, -0.5, 0.5, range(3), lambda x: abs(x) / mpf(2) ** x + mpf("1e-12"), to_float)
f = ratio(lambda x: log1p(x) / log(2), 1 / log(2))
show("native log2(1+f)/f", f, 1 / R2 - 1, R2 - 1, range(7), relative(f), to_float)
show("half log2(1+f)/f", f, 1 / R2 - 1, R2 - 1, range(4), relative(f), to_float)
f = even_ratio(sin, mpf(1))
show("native sin(r)/r by r^2", f, 0, (pi / 2 * mpf("1.001")) ** 2, range(4), relative(f), to_float)
show("half sin(r)/r by r^2", f, 0, (pi / 2 * mpf("1.001")) ** 2, range(3), relative(f), to_float)
f = even_ratio(tan, mpf(1))
show("native tan(r)/r by r^2", f, 0, (pi / 4 * mpf("1.001")) ** 2, range(5), relative(f), to_float)
show("half tan(r)/r by r^2", f, 0, (pi / 4 * mpf("1.001")) ** 2, range(4), relative(f), to_float)
