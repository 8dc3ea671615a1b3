"""Minimax polynomials by Remez exchange, in mpmath: what the scripts beside this file share."""
import struct

from mpmath import cospi, log, lu_solve, matrix, mp, mpf

mp.dps = 110


def to_double(x):
    return mpf(float(x))


def to_float(x):
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def minimax(target, low, high, powers, weight, size=1200):
    """The coefficients c_i for which weight(x) * (target(x) - sum c_i x**powers[i]) is smallest on [low, high]."""
    n = len(powers)
    low, high = mpf(low), mpf(high)
    grid = [(low + high) / 2 - (high - low) / 2 * cospi(mpf(i) / size) for i in range(size + 1)]
    value = [target(x) for x in grid]
    scale = [weight(x) for x in grid]
    power = [[x**p for p in powers] for x in grid]
    chosen = [round(i * size / n) for i in range(n + 1)]
    for _ in range(40):
        a = matrix(n + 1, n + 1)
        b = matrix(n + 1, 1)
        for row, point in enumerate(chosen):
            for column in range(n):
                a[row, column] = power[point][column]
            a[row, n] = (-1) ** row / scale[point]
            b[row] = value[point]
        solution = lu_solve(a, b)
        coefficients = [solution[i] for i in range(n)]
        level = abs(solution[n])
        error = [s * (v - sum(c * p for c, p in zip(coefficients, ps))) for s, v, ps in zip(scale, value, power)]
        # One extremum for each run of equal sign.
        extrema = []
        for i, e in enumerate(error):
            if extrema and (error[extrema[-1]] < 0) == (e < 0):
                if abs(e) > abs(error[extrema[-1]]):
                    extrema[-1] = i
            else:
                extrema.append(i)
        while len(extrema) > n + 1:
            extrema.pop(0 if abs(error[extrema[0]]) < abs(error[extrema[-1]]) else -1)
        if len(extrema) < n + 1:
            raise ValueError("too few extrema")
        chosen = extrema
        if max(abs(e) for e in error) < level * mpf("1.0001"):
            break
    return coefficients, grid, value, scale, power


def show(name, target, low, high, powers, weight, rounding=to_double, size=1200, split=0):
    """Prints the rounded coefficients and the largest weighted error of the polynomial that they make.

    The first `split` coefficients have a second part, which is printed behind the others.
    """
    coefficients, _, value, scale, power = minimax(target, low, high, powers, weight, size)
    rounded = [rounding(c) for c in coefficients]
    parts = [rounding(c - r) for c, r in zip(coefficients[:split], rounded)]
    meant = [r + part for r, part in zip(rounded, parts)] + rounded[split:]
    worst = max(
        abs(s * (v - sum(c * p for c, p in zip(meant, ps)))) for s, v, ps in zip(scale, value, power)
    )
    suffix = "f" if rounding is to_float else ""
    print(f"// {name}: [{float(low):.6g}, {float(high):.6g}], error 2^{float(log(worst, 2)):.1f}")
    print(", ".join(f"{float(c).hex()}{suffix}" for c in rounded + parts), flush=True)
