#!/usr/bin/env python3
"""Writes cl/two_over_pi.h: 2/pi in pieces, by which float_math.h reduces large floats. Needs nothing but Python."""

# Bits of the first pieces: with the 24 of a float they make an exact product of doubles.
BITS = 29
# Biased exponents of the floats that are reduced so: from 2^20 on, infinity and NaN included.
EXPONENTS = range(127 + 20, 256)
# Bits of 2/pi behind the point that the pieces are cut from.
LONG = 400


def pi_bits():
    """floor(pi 2^(LONG + 40)) by Machin's formula."""
    one = 1 << (LONG + 60)

    def arctan_of_inverse(n):
        total, term, k = 0, one // n, 0
        while term:
            total += -(term // (2 * k + 1)) if k & 1 else term // (2 * k + 1)
            term //= n * n
            k += 1
        return total

    return 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239)) >> 20


TWO_OVER_PI = (2 << (2 * LONG + 40)) // pi_bits()


def pieces(exponent):
    """Three doubles whose sum is 2/pi without what gives multiples of 4 for floats of this exponent."""
    # The lowest bit of such a float has the weight 2^(exponent - 150).
    weight = 2 - (exponent - 150)
    rest = TWO_OVER_PI & ((1 << (LONG + weight)) - 1)
    found = []
    for number in range(1, 3):
        low = LONG + weight - BITS * number
        found.append(rest >> low << low)
        rest -= found[-1]
    return [piece / (1 << LONG) for piece in [*found, rest]]


def main():
    print("// 2/pi in three pieces, two of 29 bits and the rest, for each biased exponent of a float from 2^20 on: without the bits in")
    print("// front, whose products with such a float are multiples of 4. Written by coefficients/two_over_pi.py.")
    for number, name in enumerate(["HIGH", "MIDDLE", "LOW"]):
        values = [pieces(exponent)[number].hex() for exponent in EXPONENTS]
        print(f"static constant double TWO_OVER_PI_{name}[] = {{")
        for start in range(0, len(values), 4):
            print("    " + " ".join(value + "," for value in values[start : start + 4]))
        print("};")


if __name__ == "__main__":
    main()
