#!/usr/bin/env python3
"""Derives the coefficients of the library's double functions (cl/double_*) and of the error functions of float.

Most polynomials stand for what is left of a function behind its first terms, which are added by themselves; their error
is weighted with what it means for the function. Run it with mpmath installed: python3 double.py
"""
import sys

from mpmath import asin, atan, atanh, cbrt, cos, cosh, erf, erfc, euler, exp, expm1, log, log1p, loggamma, mp, mpf, pi, sin
from mpmath import sinh, sqrt, tan

from remez import show, to_float

mp.dps = 70
SIZE = 400
TINY = mpf("1e-12")
HALF_LN2 = log(2) / 2 * mpf("1.002")
ROOT2 = sqrt(mpf(2))


def near_zero(f, series):
    """f with its limit where its own terms cancel."""
    return lambda x: series if abs(x) < TINY else f(x)


def by_square(f):
    """A function of x as one of the square of x."""
    return lambda x: f(sqrt(x))


def relative(f):
    return lambda x: 1 / abs(f(x))


def exponentials():
    f = near_zero(lambda x: (expm1(x) - x) / x**2, mpf(1) / 2)
    show("(exp(r)-1-r)/r^2", f, -HALF_LN2, HALF_LN2, range(10), lambda x: x * x / exp(x) + TINY, size=SIZE)
    show(
        "(exp(r)-1-r)/r^2 around zero", f, -HALF_LN2 / 16, HALF_LN2 / 16, range(5), lambda x: x * x / exp(x) + TINY,
        size=SIZE,
    )
    f = near_zero(lambda x: (sinh(x) - x) / x**3, mpf(1) / 6)
    show("(sinh(r)-r)/r^3 by r^2", by_square(f), 0, HALF_LN2**2, range(5), lambda x: x + TINY, size=SIZE)
    f = near_zero(lambda x: (cosh(x) - 1) / x**2, mpf(1) / 2)
    show("(cosh(r)-1)/r^2 by r^2", by_square(f), 0, HALF_LN2**2, range(6), lambda x: x + TINY, size=SIZE)


def logarithms():
    f = near_zero(lambda x: (log1p(x) - x + x * x / 2) / x**3, mpf(1) / 3)
    show(
        "(log(1+f)-f+f^2/2)/f^3", f, mpf("-0.25"), mpf("0.5"), range(18),
        lambda x: abs(x**3 / log1p(x)) if abs(x) > TINY else TINY, size=SIZE,
    )
    limit = ((ROOT2 - 1) / (ROOT2 + 1)) ** 2 * mpf("1.0001")
    f = near_zero(lambda s: (atanh(s) - s - s**3 / 3) / s**5, mpf(1) / 5)
    show("(atanh(s)-s-s^3/3)/s^5 by s^2", by_square(f), 0, limit, range(7), lambda x: x * x + TINY, size=SIZE)


def trigonometric():
    f = near_zero(lambda x: (sin(x) - x) / x**3, -mpf(1) / 6)
    show(
        "(sin(r)-r)/r^3 by r^2", by_square(f), 0, (pi / 2 * mpf("1.0001")) ** 2, range(8),
        lambda x: sqrt(x) ** 3 / sin(sqrt(x)) if x > TINY else TINY, size=SIZE,
    )
    limit = (pi / 4 * mpf("1.0001")) ** 2
    show(
        "(sin(r)-r)/r^3 by r^2", by_square(f), 0, limit, range(6),
        lambda x: sqrt(x) ** 3 / sin(sqrt(x)) if x > TINY else TINY, size=SIZE,
    )
    f = near_zero(lambda x: (cos(x) - 1 + x * x / 2) / x**4, mpf(1) / 24)
    show("(cos(r)-1+r^2/2)/r^4 by r^2", by_square(f), 0, limit, range(6), lambda x: x * x + TINY, size=SIZE)


def inverse():
    f = near_zero(lambda x: (atan(x) - x) / x**3, -mpf(1) / 3)
    show(
        "(atan(z)-z)/z^3 by z^2", by_square(f), 0, tan(pi / 8) ** 2 * mpf("1.0001"), range(11),
        lambda x: x + TINY, size=SIZE,
    )
    f = near_zero(lambda x: (asin(x) - x) / x**3, mpf(1) / 6)
    show("(asin(s)-s)/s^3 by s^2", by_square(f), 0, mpf("0.25"), range(13), lambda x: x + TINY, size=SIZE)


def roots():
    f = lambda x: 1 / cbrt(x)
    show("m^(-1/3)", f, 1, 2, range(4), lambda x: cbrt(x), size=SIZE)


def error_function():
    f = near_zero(lambda x: erf(x) / x, 2 / sqrt(pi))
    show("erf(x)/x by x^2", by_square(f), 0, 1, range(12), lambda x: 1 / f(sqrt(x)), size=SIZE)
    f = lambda t: -log(erfc(1 + t), 2)
    weight = lambda t: erfc(1 + t) * log(2) / erf(1 + t)
    show("-log2(erfc(1+t))", f, 0, mpf("4.95"), range(17), weight, size=SIZE)
    k = mpf(4)
    x = lambda t: k * (1 + t) / (1 - t)
    f = lambda t: exp(x(t) ** 2) * erfc(x(t)) * (x(t) + k)
    show(
        "exp(x^2)erfc(x)(x+4) by (x-4)/(x+4)", f, -1, (mpf("27.5") - k) / (mpf("27.5") + k), range(22), relative(f),
        size=SIZE,
    )


def float_error_function():
    f = near_zero(lambda x: erf(x) / x - 1, 2 / sqrt(pi) - 1)
    show(
        "erf(x)/x-1 by x^2 in float", by_square(f), 0, mpf("0.81"), range(6), lambda x: 1 / (1 + f(sqrt(x))), to_float,
        size=SIZE,
    )
    f = lambda x: -log(erfc(x), 2)
    show("-log2(erfc(a)) in float", f, mpf("0.9"), mpf("4"), range(7), lambda x: erfc(x) * log(2), to_float, size=SIZE)
    k = mpf(4)
    x = lambda t: k * (1 + t) / (1 - t)
    f = lambda t: exp(x(t) ** 2) * erfc(x(t)) * (x(t) + k)
    show(
        "exp(x^2)erfc(x)(x+4) by (x-4)/(x+4)", f, -1, (mpf("10.1") - k) / (mpf("10.1") + k), range(12), relative(f),
        size=SIZE,
    )


def gamma_function():
    f = lambda x: (loggamma(x) - (x - mpf("0.5")) * log(x) + x - log(2 * pi) / 2) * x
    g = lambda u: f(1 / sqrt(u)) if u > TINY else mpf(1) / 12
    show("Stirling's rest times a, by 1/a^2", g, 0, mpf(1) / 64, range(7), lambda u: sqrt(u) + TINY, size=SIZE)
    f = near_zero(lambda x: loggamma(2 + x) / x, 1 - euler)
    show("log(gamma(2+t))/t", f, -0.5, 0.5, range(18), relative(f), size=SIZE)


FAMILIES = [exponentials, logarithms, trigonometric, inverse, roots, error_function, gamma_function, float_error_function]
for family in FAMILIES:
    if len(sys.argv) == 1 or family.__name__ in sys.argv[1:]:
        family()
