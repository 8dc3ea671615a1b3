// cl_khr_extended_bit_ops and cl_khr_integer_dot_product.
#include "lockstep.h"

// --- bit fields -----------------------------------------------------------------------------------------------------
// A field of no bits leaves the base as it is and extracts to 0; shifts by the whole width are kept out of it. Scalars
// narrower than an int are shifted as ints: what leaves the type on the left is cut off before the shift to the right.
#define BIT_OPERATIONS(T, N)                                                                                           \
    OVL T##N bit_reverse(T##N x) { return __builtin_elementwise_bitreverse(x); }                                       \
    OVL T##N bitfield_insert(T##N base, T##N insert, uint offset, uint count)                                          \
    {                                                                                                                  \
        typedef UNSIGNED(T) U;                                                                                         \
        U field = count == 0 ? (U)0 : (U)((U)((U)~(U)0 >> (sizeof(T) * 8 - count)) << offset);                         \
        T##N mask = (T##N)(T)field;                                                                                    \
        return (base & ~mask) | (T##N)((insert << (T##N)(T)offset) & mask);                                            \
    }                                                                                                                  \
    OVL CAT(SIGNED(T), N) bitfield_extract_signed(T##N base, uint offset, uint count)                                  \
    {                                                                                                                  \
        typedef CAT(SIGNED(T), N) S;                                                                                   \
        SIGNED(T) left = (SIGNED(T))(sizeof(T) * 8 - offset - count), right = (SIGNED(T))(sizeof(T) * 8 - count);      \
        S moved = (S)(__builtin_astype(base, S) << (S)left);                                                           \
        return count == 0 ? (S)0 : (S)(moved >> (S)right);                                                             \
    }                                                                                                                  \
    OVL CAT(UNSIGNED(T), N) bitfield_extract_unsigned(T##N base, uint offset, uint count)                              \
    {                                                                                                                  \
        typedef CAT(UNSIGNED(T), N) U;                                                                                 \
        UNSIGNED(T) mask = count == 0 ? 0 : (UNSIGNED(T))((UNSIGNED(T))~(UNSIGNED(T))0 >> (sizeof(T) * 8 - count));    \
        return (__builtin_astype(base, U) >> (U)(UNSIGNED(T))offset) & (U)mask;                                        \
    }
FOR_INTEGERS(FOR_LENGTHS, BIT_OPERATIONS)

// --- dot products of four 8-bit integers ----------------------------------------------------------------------------
#define DOT(R, A, B)                                                                                                   \
    OVL R dot(A##4 a, B##4 b)                                                                                          \
    {                                                                                                                  \
        return (R)a.s0 * (R)b.s0 + (R)a.s1 * (R)b.s1 + (R)a.s2 * (R)b.s2 + (R)a.s3 * (R)b.s3;                          \
    }                                                                                                                  \
    OVL R dot_acc_sat(A##4 a, B##4 b, R sum) { return __builtin_elementwise_add_sat(dot(a, b), sum); }
DOT(uint, uchar, uchar)
DOT(int, char, char)
DOT(int, uchar, char)
DOT(int, char, uchar)

#define PACKED(R, NAME, A, B)                                                                                          \
    OVL R dot_4x8packed_##NAME(uint a, uint b) { return dot(as_##A##4(a), as_##B##4(b)); }                             \
    OVL R dot_acc_sat_4x8packed_##NAME(uint a, uint b, R sum) { return dot_acc_sat(as_##A##4(a), as_##B##4(b), sum); }
PACKED(uint, uu_uint, uchar, uchar)
PACKED(int, ss_int, char, char)
PACKED(int, us_int, uchar, char)
PACKED(int, su_int, char, uchar)
