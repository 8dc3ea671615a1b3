// 6.4.3 Explicit conversions to one destination type: compiled once for each DEST, with DEST_INTEGER set for integers.
#include "convert.h"

#define MIN_OF(T) CAT(MIN_, T)
#define MAX_OF(T) CAT(MAX_, T)
#define MIN_char -128L
#define MIN_short -32768L
#define MIN_int -2147483648L
#define MIN_long LONG_MIN
#define MIN_uchar 0L
#define MIN_ushort 0L
#define MIN_uint 0L
#define MIN_ulong 0L
#define MAX_char 127UL
#define MAX_short 32767UL
#define MAX_int 2147483647UL
#define MAX_long 0x7fffffffffffffffUL
#define MAX_uchar 255UL
#define MAX_ushort 65535UL
#define MAX_uint 0xffffffffUL
#define MAX_ulong ULONG_MAX

#if DEST_INTEGER
// --- to integers ----------------------------------------------------------------------------------------------------
INL float round_rte(float x) { return __builtin_elementwise_rint(x); }
INL float round_rtz(float x) { return __builtin_elementwise_trunc(x); }
INL float round_rtp(float x) { return __builtin_elementwise_ceil(x); }
INL float round_rtn(float x) { return __builtin_elementwise_floor(x); }
INL double round_rte(double x) { return __builtin_elementwise_rint(x); }
INL double round_rtz(double x) { return __builtin_elementwise_trunc(x); }
INL double round_rtp(double x) { return __builtin_elementwise_ceil(x); }
INL double round_rtn(double x) { return __builtin_elementwise_floor(x); }

// The least power of two above every value of DEST, in any floating type.
#define ABOVE ((double)(MAX_OF(DEST) / 2 + 1) * 2.0)

#define SATURATE_FLOAT(S)                                                                                              \
    INL DEST saturate(S x)                                                                                             \
    {                                                                                                                  \
        return x >= (S)ABOVE            ? (DEST)MAX_OF(DEST)                                                           \
               : x < (S)MIN_OF(DEST)    ? (DEST)MIN_OF(DEST)                                                           \
               : x != x                 ? (DEST)0                                                                      \
                                        : (DEST)x;                                                                     \
    }
SATURATE_FLOAT(float)
SATURATE_FLOAT(double)

#define FROM_FLOAT(S)                                                                                                  \
    INL DEST scalar_rte(S x) { return (DEST)round_rte(x); }                                                            \
    INL DEST scalar_rtz(S x) { return (DEST)x; }                                                                       \
    INL DEST scalar_rtp(S x) { return (DEST)round_rtp(x); }                                                            \
    INL DEST scalar_rtn(S x) { return (DEST)round_rtn(x); }                                                            \
    INL DEST scalar_sat(S x) { return saturate(x); }                                                                   \
    INL DEST scalar_sat_rte(S x) { return saturate(round_rte(x)); }                                                    \
    INL DEST scalar_sat_rtz(S x) { return saturate(x); }                                                               \
    INL DEST scalar_sat_rtp(S x) { return saturate(round_rtp(x)); }                                                    \
    INL DEST scalar_sat_rtn(S x) { return saturate(round_rtn(x)); }
FROM_FLOAT(float)
FROM_FLOAT(double)

#define FROM_HALF(SUFFIX)                                                                                              \
    INL DEST scalar##SUFFIX(half x) { return scalar##SUFFIX((float)x); }
FROM_HALF(_rte) FROM_HALF(_rtz) FROM_HALF(_rtp) FROM_HALF(_rtn)
FROM_HALF(_sat) FROM_HALF(_sat_rte) FROM_HALF(_sat_rtz) FROM_HALF(_sat_rtp) FROM_HALF(_sat_rtn)

// Between integers no rounding happens; saturation clamps in the source type to what both types hold.
#define FROM_INTEGER(M, S)                                                                                             \
    INL DEST scalar_rte(S x) { return (DEST)x; }                                                                       \
    INL DEST scalar_rtz(S x) { return (DEST)x; }                                                                       \
    INL DEST scalar_rtp(S x) { return (DEST)x; }                                                                       \
    INL DEST scalar_rtn(S x) { return (DEST)x; }                                                                       \
    INL DEST scalar_sat(S x)                                                                                           \
    {                                                                                                                  \
        S lo = (S)(MIN_OF(DEST) > MIN_OF(S) ? MIN_OF(DEST) : MIN_OF(S));                                               \
        S hi = (S)(MAX_OF(DEST) < MAX_OF(S) ? MAX_OF(DEST) : MAX_OF(S));                                               \
        return (DEST)(x < lo ? lo : x > hi ? hi : x);                                                                  \
    }                                                                                                                  \
    INL DEST scalar_sat_rte(S x) { return scalar_sat(x); }                                                             \
    INL DEST scalar_sat_rtz(S x) { return scalar_sat(x); }                                                             \
    INL DEST scalar_sat_rtp(S x) { return scalar_sat(x); }                                                             \
    INL DEST scalar_sat_rtn(S x) { return scalar_sat(x); }
FOR_INTEGERS(FROM_INTEGER, )

#else
// --- to floating types ----------------------------------------------------------------------------------------------
#define FROM_EXACT(S, VALUE)                                                                                           \
    INL DEST scalar_rte(S x) { return VALUE; }                                                                         \
    INL DEST scalar_rtz(S x) { return VALUE; }                                                                         \
    INL DEST scalar_rtp(S x) { return VALUE; }                                                                         \
    INL DEST scalar_rtn(S x) { return VALUE; }
#define FROM_NARROWING(S, TO, VALUE)                                                                                   \
    INL DEST scalar_rte(S x) { return TO##_rte(VALUE); }                                                               \
    INL DEST scalar_rtz(S x) { return TO##_rtz(VALUE); }                                                               \
    INL DEST scalar_rtp(S x) { return TO##_rtp(VALUE); }                                                               \
    INL DEST scalar_rtn(S x) { return TO##_rtn(VALUE); }

// 64-bit integers to float or double: round to nearest, then compare back with the integer. LIMIT is the first power
// of two that the source does not hold: a result there is above every source value.
#define FROM_LONG(S, LIMIT)                                                                                            \
    INL int above(DEST r, S x) { return r >= (DEST)LIMIT || (S)r > x; }                                                \
    INL int below(DEST r, S x) { return !(r >= (DEST)LIMIT) && (S)r < x; }                                             \
    INL DEST scalar_rte(S x) { return (DEST)x; }                                                                       \
    INL DEST scalar_rtp(S x) { return below((DEST)x, x) ? step_up((DEST)x) : (DEST)x; }                                \
    INL DEST scalar_rtn(S x) { return above((DEST)x, x) ? step_down((DEST)x) : (DEST)x; }                              \
    INL DEST scalar_rtz(S x) { return x < 0 ? scalar_rtp(x) : scalar_rtn(x); }

#if DEST_HALF
FROM_EXACT(half, x)
FROM_EXACT(char, (half)x)
FROM_EXACT(uchar, (half)x)
FROM_NARROWING(short, to_half, (float)x)
FROM_NARROWING(ushort, to_half, (float)x)
// Beyond the range of half only the side matters, so larger integers are first brought to where float is exact.
FROM_NARROWING(int, to_half, (float)(x < -0x100000 ? -0x100000 : x > 0x100000 ? 0x100000 : x))
FROM_NARROWING(uint, to_half, (float)(x > 0x100000u ? 0x100000u : x))
FROM_NARROWING(long, to_half, (float)(int)(x < -0x100000L ? -0x100000L : x > 0x100000L ? 0x100000L : x))
FROM_NARROWING(ulong, to_half, (float)(int)(x > 0x100000UL ? 0x100000UL : x))
FROM_NARROWING(float, to_half, x)
FROM_NARROWING(double, to_half, x)
#elif DEST_FLOAT
FROM_EXACT(half, (float)x)
FROM_EXACT(float, x)
FROM_EXACT(char, (float)x)
FROM_EXACT(uchar, (float)x)
FROM_EXACT(short, (float)x)
FROM_EXACT(ushort, (float)x)
FROM_NARROWING(int, to_float, (double)x)
FROM_NARROWING(uint, to_float, (double)x)
FROM_NARROWING(double, to_float, x)
FROM_LONG(long, 0x1p63)
FROM_LONG(ulong, 0x1p64)
#else
FROM_EXACT(half, (double)x)
FROM_EXACT(float, (double)x)
FROM_EXACT(double, x)
FROM_EXACT(char, (double)x)
FROM_EXACT(uchar, (double)x)
FROM_EXACT(short, (double)x)
FROM_EXACT(ushort, (double)x)
FROM_EXACT(int, (double)x)
FROM_EXACT(uint, (double)x)
FROM_LONG(long, 0x1p63)
FROM_LONG(ulong, 0x1p64)
#endif
#endif

// --- the built-ins --------------------------------------------------------------------------------------------------
#define FORMS(S, SUFFIX) FORMS_(DEST, S, SUFFIX)
#define FORMS_(D, S, SUFFIX) FORMS__(D, S, SUFFIX)
#define FORMS__(D, S, X)                                                                                               \
    OVL D convert_##D##X(S x) { return scalar##X(x); }                                                                 \
    OVL D##2 convert_##D##2##X(S##2 x) { return (D##2)(convert_##D##X(x.s0), convert_##D##X(x.s1)); }                  \
    OVL D##3 convert_##D##3##X(S##3 x)                                                                                 \
    {                                                                                                                  \
        return (D##3)(convert_##D##X(x.s0), convert_##D##X(x.s1), convert_##D##X(x.s2));                               \
    }                                                                                                                  \
    OVL D##4 convert_##D##4##X(S##4 x)                                                                                 \
    {                                                                                                                  \
        return (D##4)(convert_##D##X(x.s0), convert_##D##X(x.s1), convert_##D##X(x.s2), convert_##D##X(x.s3));         \
    }                                                                                                                  \
    OVL D##8 convert_##D##8##X(S##8 x) { return (D##8)(convert_##D##4##X(x.lo), convert_##D##4##X(x.hi)); }            \
    OVL D##16 convert_##D##16##X(S##16 x) { return (D##16)(convert_##D##8##X(x.lo), convert_##D##8##X(x.hi)); }

// The plain form is the language's own conversion, on whole vectors.
#define PLAIN(S) PLAIN_(DEST, S)
#define PLAIN_(D, S) PLAIN__(D, S)
#define PLAIN__(D, S)                                                                                                  \
    OVL D convert_##D(S x) { return (D)x; }                                                                            \
    OVL D##2 convert_##D##2(S##2 x) { return __builtin_convertvector(x, D##2); }                                       \
    OVL D##3 convert_##D##3(S##3 x) { return __builtin_convertvector(x, D##3); }                                       \
    OVL D##4 convert_##D##4(S##4 x) { return __builtin_convertvector(x, D##4); }                                       \
    OVL D##8 convert_##D##8(S##8 x) { return __builtin_convertvector(x, D##8); }                                       \
    OVL D##16 convert_##D##16(S##16 x) { return __builtin_convertvector(x, D##16); }

#if DEST_HALF
// No machine narrows these to half in one step.
INL half scalar(double x) { return to_half_rte(x); }
INL half scalar(int x) { return scalar_rte(x); }
INL half scalar(uint x) { return scalar_rte(x); }
INL half scalar(long x) { return scalar_rte(x); }
INL half scalar(ulong x) { return scalar_rte(x); }
FORMS(double, ) FORMS(int, ) FORMS(uint, ) FORMS(long, ) FORMS(ulong, )
PLAIN(half) PLAIN(float) PLAIN(char) PLAIN(uchar) PLAIN(short) PLAIN(ushort)
#define ROUNDED(M, S) FORMS(S, _rte) FORMS(S, _rtz) FORMS(S, _rtp) FORMS(S, _rtn)
#else
#define ROUNDED(M, S) PLAIN(S) FORMS(S, _rte) FORMS(S, _rtz) FORMS(S, _rtp) FORMS(S, _rtn)
#endif
FOR_TYPES(ROUNDED, )

#if DEST_INTEGER
#define SATURATED(M, S) FORMS(S, _sat) FORMS(S, _sat_rte) FORMS(S, _sat_rtz) FORMS(S, _sat_rtp) FORMS(S, _sat_rtn)
FOR_TYPES(SATURATED, )
#endif
