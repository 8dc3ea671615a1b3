// 6.15.14 Miscellaneous vector functions: shuffle and shuffle2. Only the low bits of a selector count.
#include "lockstep.h"

#define HALVES(T, N, H, M)                                                                                             \
    OVL T##N shuffle(T##M x, CAT(UNSIGNED(T), N) mask)                                                                 \
    {                                                                                                                  \
        return (T##N)(shuffle(x, mask.lo), shuffle(x, mask.hi));                                                       \
    }                                                                                                                  \
    OVL T##N shuffle2(T##M x, T##M y, CAT(UNSIGNED(T), N) mask)                                                        \
    {                                                                                                                  \
        return (T##N)(shuffle2(x, y, mask.lo), shuffle2(x, y, mask.hi));                                               \
    }
#define SHUFFLES(T, M)                                                                                                 \
    INL T pick(T##M x, T##M y, ulong i) { return i & M ? y[i & (M - 1)] : x[i & (M - 1)]; }                            \
    OVL T##2 shuffle(T##M x, CAT(UNSIGNED(T), 2) mask) { return (T##2)(x[mask.s0 & (M - 1)], x[mask.s1 & (M - 1)]); }  \
    OVL T##2 shuffle2(T##M x, T##M y, CAT(UNSIGNED(T), 2) mask)                                                        \
    {                                                                                                                  \
        return (T##2)(pick(x, y, mask.s0), pick(x, y, mask.s1));                                                       \
    }                                                                                                                  \
    HALVES(T, 4, 2, M)                                                                                                 \
    HALVES(T, 8, 4, M)                                                                                                 \
    HALVES(T, 16, 8, M)
#define ALL(M, T) SHUFFLES(T, 2) SHUFFLES(T, 4) SHUFFLES(T, 8) SHUFFLES(T, 16)
FOR_TYPES(ALL, )
