// 6.15.6 Relational functions. A vector result is -1 or 0 in an integer of the operand's size, a scalar one 1 or 0 in
// int: just what the operators give.
#include "lockstep.h"

#define R_(T) int
#define R_2(T) CAT(SIGNED(T), 2)
#define R_3(T) CAT(SIGNED(T), 3)
#define R_4(T) CAT(SIGNED(T), 4)
#define R_8(T) CAT(SIGNED(T), 8)
#define R_16(T) CAT(SIGNED(T), 16)
#define RESULT(T, N) CAT(R_, N)(T)

#define BITS_OF(x, T, N) __builtin_astype(x, CAT(SIGNED(T), N))

// The exponent field all ones is the pattern of infinity; magnitudes order like their bit patterns.
#define INFINITY_BITS_half 0x7c00
#define INFINITY_BITS_float 0x7f800000
#define INFINITY_BITS_double 0x7ff0000000000000L
#define LEAST_NORMAL_BITS_half 0x0400
#define LEAST_NORMAL_BITS_float 0x00800000
#define LEAST_NORMAL_BITS_double 0x0010000000000000L
#define MAGNITUDE_BITS_half 0x7fff
#define MAGNITUDE_BITS_float 0x7fffffff
#define MAGNITUDE_BITS_double 0x7fffffffffffffffL

#define RELATIONS(T, N)                                                                                                \
    OVL RESULT(T, N) isequal(T##N x, T##N y) { return x == y; }                                                        \
    OVL RESULT(T, N) isnotequal(T##N x, T##N y) { return x != y; }                                                     \
    OVL RESULT(T, N) isgreater(T##N x, T##N y) { return x > y; }                                                       \
    OVL RESULT(T, N) isgreaterequal(T##N x, T##N y) { return x >= y; }                                                 \
    OVL RESULT(T, N) isless(T##N x, T##N y) { return x < y; }                                                          \
    OVL RESULT(T, N) islessequal(T##N x, T##N y) { return x <= y; }                                                    \
    OVL RESULT(T, N) islessgreater(T##N x, T##N y) { return (x < y) | (x > y); }                                       \
    OVL RESULT(T, N) isordered(T##N x, T##N y) { return (x == x) & (y == y); }                                         \
    OVL RESULT(T, N) isunordered(T##N x, T##N y) { return (x != x) | (y != y); }                                       \
    OVL RESULT(T, N) isnan(T##N x) { return x != x; }                                                                  \
    OVL RESULT(T, N) isinf(T##N x)                                                                                     \
    {                                                                                                                  \
        typedef CAT(SIGNED(T), N) I;                                                                                   \
        return (BITS_OF(x, T, N) & (I)MAGNITUDE_BITS_##T) == (I)INFINITY_BITS_##T;                                     \
    }                                                                                                                  \
    OVL RESULT(T, N) isfinite(T##N x)                                                                                  \
    {                                                                                                                  \
        typedef CAT(SIGNED(T), N) I;                                                                                   \
        return (BITS_OF(x, T, N) & (I)MAGNITUDE_BITS_##T) < (I)INFINITY_BITS_##T;                                      \
    }                                                                                                                  \
    OVL RESULT(T, N) isnormal(T##N x)                                                                                  \
    {                                                                                                                  \
        typedef CAT(SIGNED(T), N) I;                                                                                   \
        I magnitude = BITS_OF(x, T, N) & (I)MAGNITUDE_BITS_##T;                                                        \
        return (magnitude >= (I)LEAST_NORMAL_BITS_##T) & (magnitude < (I)INFINITY_BITS_##T);                           \
    }                                                                                                                  \
    OVL RESULT(T, N) signbit(T##N x) { return BITS_OF(x, T, N) < (CAT(SIGNED(T), N))0; }
FOR_FLOATS(FOR_LENGTHS, RELATIONS)

// --- any, all -------------------------------------------------------------------------------------------------------
#define ANY_ALL(T)                                                                                                     \
    OVL int any(T x) { return x < 0; }                                                                                 \
    OVL int all(T x) { return x < 0; }                                                                                 \
    OVL int any(T##2 x) { return (T)(x.s0 | x.s1) < 0; }                                                               \
    OVL int all(T##2 x) { return (T)(x.s0 & x.s1) < 0; }                                                               \
    OVL int any(T##3 x) { return (T)(x.s0 | x.s1 | x.s2) < 0; }                                                        \
    OVL int all(T##3 x) { return (T)(x.s0 & x.s1 & x.s2) < 0; }                                                        \
    OVL int any(T##4 x) { return any(x.lo | x.hi); }                                                                   \
    OVL int all(T##4 x) { return all(x.lo & x.hi); }                                                                   \
    OVL int any(T##8 x) { return any(x.lo | x.hi); }                                                                   \
    OVL int all(T##8 x) { return all(x.lo & x.hi); }                                                                   \
    OVL int any(T##16 x) { return any(x.lo | x.hi); }                                                                  \
    OVL int all(T##16 x) { return all(x.lo & x.hi); }
ANY_ALL(char)
ANY_ALL(short)
ANY_ALL(int)
ANY_ALL(long)

// --- bitselect, select ----------------------------------------------------------------------------------------------
#define BITSELECT(T, N)                                                                                                \
    OVL T##N bitselect(T##N a, T##N b, T##N c)                                                                         \
    {                                                                                                                  \
        typedef CAT(UNSIGNED(T), N) U;                                                                                 \
        U mask = __builtin_astype(c, U);                                                                               \
        return __builtin_astype((U)((__builtin_astype(a, U) & ~mask) | (__builtin_astype(b, U) & mask)), T##N);        \
    }
FOR_TYPES(FOR_LENGTHS, BITSELECT)

// A scalar select tests for zero, a vector select the top bit of each element of the condition.
#define SELECT_SCALAR(T, C)                                                                                            \
    OVL T select(T a, T b, C c) { return c ? b : a; }
#define SELECT_VECTOR(T, N)                                                                                            \
    OVL T##N select(T##N a, T##N b, CAT(SIGNED(T), N) c) { return c < (CAT(SIGNED(T), N))0 ? b : a; }                  \
    OVL T##N select(T##N a, T##N b, CAT(UNSIGNED(T), N) c)                                                             \
    {                                                                                                                  \
        return __builtin_astype(c, CAT(SIGNED(T), N)) < (CAT(SIGNED(T), N))0 ? b : a;                                  \
    }
#define SELECT(M, T)                                                                                                   \
    OVL T select(T a, T b, SIGNED(T) c) { return c ? b : a; }                                                          \
    OVL T select(T a, T b, UNSIGNED(T) c) { return c ? b : a; }                                                        \
    FOR_VECTORS(SELECT_VECTOR, T)
FOR_TYPES(SELECT, )
