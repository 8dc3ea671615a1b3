// cl_intel_subgroups and its forms for other types: shuffles of one and of two values. Compiled once for each type.
#include "sub_group.h"

// The lanes of two values are a row of twice as many, of which each lane reads the one that is `by` after its own.
#define SHUFFLES(T)                                                                                                    \
    __attribute__((convergent)) T __lockstep_gang_shuffle_##T(T v, uint lane);                                         \
    CONVERGENT T intel_sub_group_shuffle(T v, uint id) { return __lockstep_gang_shuffle_##T(v, id); }                  \
    CONVERGENT T intel_sub_group_shuffle_xor(T v, uint mask) { return __lockstep_gang_shuffle_##T(v, lane() ^ mask); } \
    CONVERGENT T intel_sub_group_shuffle_down(T v, T w, uint by)                                                       \
    {                                                                                                                  \
        uint source = lane() + by;                                                                                     \
        T near = __lockstep_gang_shuffle_##T(v, source & (SUB_GROUP - 1));                                             \
        T far = __lockstep_gang_shuffle_##T(w, source & (SUB_GROUP - 1));                                              \
        return source < SUB_GROUP ? near : far;                                                                        \
    }                                                                                                                  \
    CONVERGENT T intel_sub_group_shuffle_up(T v, T w, uint by)                                                         \
    {                                                                                                                  \
        return intel_sub_group_shuffle_down(v, w, SUB_GROUP - by);                                                     \
    }                                                                                                                  \
    OF_ONE(T, intel_sub_group_shuffle) OF_ONE(T, intel_sub_group_shuffle_xor)                                          \
    OF_TWO(T, intel_sub_group_shuffle_down) OF_TWO(T, intel_sub_group_shuffle_up)

// Vectors go by their parts.
#define OF_ONE(T, F)                                                                                                   \
    PARTS_OF_ONE(T, F, 2, s0, s1) PARTS_OF_ONE(T, F, 3, s01, s2) PARTS_OF_ONE(T, F, 4, lo, hi)                         \
    PARTS_OF_ONE(T, F, 8, lo, hi) PARTS_OF_ONE(T, F, 16, lo, hi)
#define PARTS_OF_ONE(T, F, N, LOW, HIGH)                                                                               \
    CONVERGENT T##N F(T##N v, uint id) { return (T##N)(F(v.LOW, id), F(v.HIGH, id)); }
#define OF_TWO(T, F)                                                                                                   \
    PARTS_OF_TWO(T, F, 2, s0, s1) PARTS_OF_TWO(T, F, 3, s01, s2) PARTS_OF_TWO(T, F, 4, lo, hi)                         \
    PARTS_OF_TWO(T, F, 8, lo, hi) PARTS_OF_TWO(T, F, 16, lo, hi)
#define PARTS_OF_TWO(T, F, N, LOW, HIGH)                                                                               \
    CONVERGENT T##N F(T##N v, T##N w, uint by) { return (T##N)(F(v.LOW, w.LOW, by), F(v.HIGH, w.HIGH, by)); }

#define ONE(M, T) M(T)
FOR_TYPES(ONE, SHUFFLES)
