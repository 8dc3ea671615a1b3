// 6.15.19 Broadcasts in sub-groups, with the types of cl_khr_subgroup_extended_types; cl_khr_subgroup_shuffle,
// cl_khr_subgroup_shuffle_relative, cl_khr_subgroup_rotate, and the functions of other extensions in which lanes read
// each other's values: compiled once for each type.
#include "sub_group.h"

#define SHUFFLES(T)                                                                                                    \
    __attribute__((convergent)) T __lockstep_gang_shuffle_##T(T v, uint lane);                                         \
    CONVERGENT T sub_group_broadcast(T v, uint id) { return __lockstep_gang_shuffle_##T(v, id); }                      \
    CONVERGENT T sub_group_non_uniform_broadcast(T v, uint id) { return __lockstep_gang_shuffle_##T(v, id); }          \
    CONVERGENT T sub_group_broadcast_first(T v) { return __lockstep_gang_shuffle_##T(v, first_lane()); }               \
    CONVERGENT int sub_group_non_uniform_all_equal(T v)                                                                \
    {                                                                                                                  \
        return __lockstep_gang_ballot(v != __lockstep_gang_shuffle_##T(v, first_lane())) == 0;                         \
    }                                                                                                                  \
    CONVERGENT T sub_group_shuffle(T v, uint id) { return __lockstep_gang_shuffle_##T(v, id); }                        \
    CONVERGENT T sub_group_shuffle_xor(T v, uint mask) { return __lockstep_gang_shuffle_##T(v, lane() ^ mask); }       \
    CONVERGENT T sub_group_shuffle_up(T v, uint by) { return __lockstep_gang_shuffle_##T(v, lane() - by); }            \
    CONVERGENT T sub_group_shuffle_down(T v, uint by) { return __lockstep_gang_shuffle_##T(v, lane() + by); }          \
    CONVERGENT T sub_group_rotate(T v, int by) { return __lockstep_gang_shuffle_##T(v, lane() + by); }         \
    CONVERGENT T sub_group_clustered_rotate(T v, int by, uint size)                                                    \
    {                                                                                                                  \
        return __lockstep_gang_shuffle_##T(v, (lane() & -size) | ((lane() + by) & (size - 1)));                        \
    }                                                                                                                  \
    CONVERGENT T intel_sub_group_broadcast(T v, uint id) { return __lockstep_gang_shuffle_##T(v, id); }                \
    VECTORS(T, sub_group_broadcast) VECTORS(T, sub_group_non_uniform_broadcast) VECTORS(T, intel_sub_group_broadcast)

// Vectors go by their elements.
#define VECTORS(T, F)                                                                                                  \
    CONVERGENT T##2 F(T##2 v, uint id) { return (T##2)(F(v.s0, id), F(v.s1, id)); }                                    \
    CONVERGENT T##3 F(T##3 v, uint id) { return (T##3)(F(v.s01, id), F(v.s2, id)); }                                   \
    HALVES(T, F, 4) HALVES(T, F, 8) HALVES(T, F, 16)
#define HALVES(T, F, N)                                                                                                \
    CONVERGENT T##N F(T##N v, uint id) { return (T##N)(F(v.lo, id), F(v.hi, id)); }

#define ONE(M, T) M(T)
FOR_TYPES(ONE, SHUFFLES)
