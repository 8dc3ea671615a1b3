// 6.15.3 Integer functions: products and upsample.
#include "lockstep.h"

#define MUL_HI_WIDE(T, N)                                                                                              \
    OVL T##N mul_hi(T##N x, T##N y)                                                                                    \
    {                                                                                                                  \
        typedef CAT(WIDE(T), N) W;                                                                                     \
        W product = CONVERT(N, WIDE_OF_##T, x) * CONVERT(N, WIDE_OF_##T, y);                                           \
        return CONVERT(N, T, product >> (W)(sizeof(T) * 8));                                                           \
    }
#define WIDE_OF_char short
#define WIDE_OF_uchar ushort
#define WIDE_OF_short int
#define WIDE_OF_ushort uint
#define WIDE_OF_int long
#define WIDE_OF_uint ulong
#define FOR_NARROW(X, M) X(M, char) X(M, uchar) X(M, short) X(M, ushort) X(M, int) X(M, uint)
FOR_NARROW(FOR_LENGTHS, MUL_HI_WIDE)

// 64 by 64 bits in four 32-bit products; no partial sum overflows.
#define MUL_HI_ULONG(T, N)                                                                                             \
    OVL ulong##N mul_hi(ulong##N x, ulong##N y)                                                                        \
    {                                                                                                                  \
        ulong##N low = 0xffffffffUL;                                                                                   \
        ulong##N xl = x & low, xh = x >> 32UL, yl = y & low, yh = y >> 32UL;                                           \
        ulong##N middle = xh * yl + (xl * yl >> 32UL);                                                                 \
        ulong##N other = xl * yh + (middle & low);                                                                     \
        return xh * yh + (middle >> 32UL) + (other >> 32UL);                                                           \
    }                                                                                                                  \
    OVL long##N mul_hi(long##N x, long##N y)                                                                           \
    {                                                                                                                  \
        /* a negative factor counts as itself plus 2^64 in the unsigned product */                                     \
        long##N high = __builtin_astype(                                                                               \
            mul_hi(__builtin_astype(x, ulong##N), __builtin_astype(y, ulong##N)), long##N);                            \
        return high - ((x >> 63L) & y) - ((y >> 63L) & x);                                                             \
    }
FOR_LENGTHS(MUL_HI_ULONG, )

#define MAD_HI(T, N)                                                                                                   \
    OVL T##N mad_hi(T##N a, T##N b, T##N c) { return mul_hi(a, b) + c; }
FOR_INTEGERS(FOR_LENGTHS, MAD_HI)

// What factors of more than 24 bits give is the implementation's choice. Signed ones are multiplied as they are, so that
// the analyses see through the products that addresses are computed with; of unsigned ones the low 24 bits count, as
// the Khronos suite has it.
#define MUL24(T, N, FACTOR)                                                                                            \
    OVL T##N mul24(T##N x, T##N y) { return FACTOR(x) * FACTOR(y); }                                                   \
    OVL T##N mad24(T##N x, T##N y, T##N z) { return mul24(x, y) + z; }
#define WHOLE(x) (x)
#define LOW_24(x) ((x) & 0xFFFFFF)
#define MUL24_SIGNED(T, N) MUL24(T, N, WHOLE)
#define MUL24_UNSIGNED(T, N) MUL24(T, N, LOW_24)
FOR_LENGTHS(MUL24_SIGNED, int)
FOR_LENGTHS(MUL24_UNSIGNED, uint)

// --- saturating multiply-add ----------------------------------------------------------------------------------------
// The exact a*b+c of types up to 32 bits fits in twice the width.
#define MAD_SAT_WIDE(T, N)                                                                                             \
    OVL T##N mad_sat(T##N a, T##N b, T##N c)                                                                           \
    {                                                                                                                  \
        typedef CAT(WIDE(T), N) W;                                                                                     \
        W exact = CONVERT(N, WIDE_OF_##T, a) * CONVERT(N, WIDE_OF_##T, b) + CONVERT(N, WIDE_OF_##T, c);                \
        W least = (W)MIN_##T, most = (W)MAX_##T;                                                                       \
        return CONVERT(N, T, __builtin_elementwise_min(__builtin_elementwise_max(exact, least), most));                \
    }
#define MIN_char -128
#define MAX_char 127
#define MIN_uchar 0
#define MAX_uchar 255
#define MIN_short -32768
#define MAX_short 32767
#define MIN_ushort 0
#define MAX_ushort 65535
#define MIN_int INT_MIN
#define MAX_int INT_MAX
#define MIN_uint 0
#define MAX_uint UINT_MAX
FOR_NARROW(FOR_LENGTHS, MAD_SAT_WIDE)

// 64 bits: the 128-bit product in two words, add c to the low word and its sign and the carry to the high one, then
// the high word says whether the sum fits.
OVL ulong mad_sat(ulong a, ulong b, ulong c)
{
    ulong low = a * b;
    ulong sum = low + c;
    return mul_hi(a, b) != 0 || sum < low ? ULONG_MAX : sum;
}
OVL long mad_sat(long a, long b, long c)
{
    ulong low = (ulong)a * (ulong)b;
    ulong sum = low + (ulong)c;
    long high = mul_hi(a, b) + (c >> 63) + (long)(sum < low);
    long wrapped = (long)sum;
    return high == wrapped >> 63 ? wrapped : high < 0 ? LONG_MIN : LONG_MAX;
}
MAP3(ulong, mad_sat, ulong, ulong, ulong)
MAP3(long, mad_sat, long, long, long)

// --- upsample -------------------------------------------------------------------------------------------------------
#define UPSAMPLE(T, N)                                                                                                 \
    OVL CAT(WIDE(T), N) upsample(T##N hi, CAT(UNSIGNED(T), N) lo)                                                      \
    {                                                                                                                  \
        typedef CAT(WIDE(T), N) W;                                                                                     \
        return (CONVERT(N, WIDE_OF_##T, hi) << (W)(sizeof(T) * 8)) | CONVERT(N, WIDE_OF_##T, lo);                      \
    }
FOR_NARROW(FOR_LENGTHS, UPSAMPLE)
