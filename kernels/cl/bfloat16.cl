// cl_intel_bfloat16_conversions: the upper half of a float's bits as a number of its own.
#include "lockstep.h"

// To nearest, ties to even. A NaN keeps its upper bits, and is made a quiet one, so that it stays one.
#define CONVERSIONS(N)                                                                                                 \
    OVL ushort##N intel_convert_bfloat16##N##_as_ushort##N(float##N x)                                                 \
    {                                                                                                                  \
        uint##N bits = __builtin_astype(x, uint##N);                                                                   \
        uint##N nearest = bits + 0x7fffu + (bits >> 16 & 1u);                                                          \
        uint##N quiet = bits | 0x400000u;                                                                              \
        return CONVERT(N, ushort, (x != x ? quiet : nearest) >> 16);                                                   \
    }                                                                                                                  \
    OVL float##N intel_convert_as_bfloat16##N##_float##N(ushort##N x)                                                  \
    {                                                                                                                  \
        return __builtin_astype(CONVERT(N, uint, x) << 16, float##N);                                                  \
    }
CONVERSIONS()
CONVERSIONS(2)
CONVERSIONS(3)
CONVERSIONS(4)
CONVERSIONS(8)
CONVERSIONS(16)
