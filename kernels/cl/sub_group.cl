// 6.15.19 Sub-group functions that are not for one type each; cl_khr_subgroup_ballot, cl_khr_subgroup_non_uniform_vote.
#include "sub_group.h"

INL uint items(void) { return __lockstep_local_size(0) * __lockstep_local_size(1) * __lockstep_local_size(2); }
INL uint enqueued_items(void)
{
    return __lockstep_enqueued_local_size(0) * __lockstep_enqueued_local_size(1) * __lockstep_enqueued_local_size(2);
}
INL uint sub_groups_of(uint items) { return (items + SUB_GROUP - 1) / SUB_GROUP; }
INL uint own_sub_group(void) { return (uint)__lockstep_linear_id() / SUB_GROUP; }

OVL uint get_sub_group_size(void)
{
    uint left = items() - own_sub_group() * SUB_GROUP;
    return left < SUB_GROUP ? left : SUB_GROUP;
}
OVL uint get_max_sub_group_size(void) { return SUB_GROUP; }
OVL uint get_num_sub_groups(void) { return sub_groups_of(items()); }
OVL uint get_enqueued_num_sub_groups(void) { return sub_groups_of(enqueued_items()); }
OVL uint get_sub_group_id(void) { return own_sub_group(); }
OVL uint get_sub_group_local_id(void) { return lane(); }

// --- synchronization ------------------------------------------------------------------------------------------------
__attribute__((convergent)) void __lockstep_gang_barrier(uint flags, uint scope);
CONVERGENT void sub_group_barrier(cl_mem_fence_flags flags)
{
    __lockstep_gang_barrier(flags, memory_scope_sub_group);
}
CONVERGENT void sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
    __lockstep_gang_barrier(flags, scope);
}

// --- votes ----------------------------------------------------------------------------------------------------------
CONVERGENT int sub_group_all(int x) { return __lockstep_gang_ballot(x == 0) == 0; }
CONVERGENT int sub_group_any(int x) { return __lockstep_gang_ballot(x != 0) != 0; }
CONVERGENT int sub_group_non_uniform_all(int x) { return __lockstep_gang_ballot(x == 0) == 0; }
CONVERGENT int sub_group_non_uniform_any(int x) { return __lockstep_gang_ballot(x != 0) != 0; }
CONVERGENT int sub_group_elect(void) { return lane() == first_lane(); }

// --- ballots --------------------------------------------------------------------------------------------------------
// A ballot has a bit per lane, all in the first element; bits that no lane can have count for nothing.
#define ALL_LANES (~0u >> (32 - SUB_GROUP))
INL uint lanes_of(uint4 ballot) { return ballot.x & ALL_LANES; }

CONVERGENT uint4 sub_group_ballot(int x) { return (uint4)((uint)__lockstep_gang_ballot(x != 0), 0, 0, 0); }
OVL int sub_group_inverse_ballot(uint4 ballot) { return ballot.x >> lane() & 1; }
OVL int sub_group_ballot_bit_extract(uint4 ballot, uint index)
{
    uint low = index & 32 ? ballot.y : ballot.x, high = index & 32 ? ballot.w : ballot.z;
    return (index & 64 ? high : low) >> (index & 31) & 1;
}
OVL uint sub_group_ballot_bit_count(uint4 ballot) { return __builtin_popcount(lanes_of(ballot)); }
OVL uint sub_group_ballot_inclusive_scan(uint4 ballot) { return __builtin_popcount(ballot.x & ((2u << lane()) - 1)); }
OVL uint sub_group_ballot_exclusive_scan(uint4 ballot) { return __builtin_popcount(ballot.x & ((1u << lane()) - 1)); }
// No bit at all may give anything, but no undefined behaviour.
#define STOP (1u << (SUB_GROUP < 32 ? SUB_GROUP : 31))
OVL uint sub_group_ballot_find_lsb(uint4 ballot) { return __builtin_ctz(lanes_of(ballot) | STOP); }
OVL uint sub_group_ballot_find_msb(uint4 ballot) { return 31 - __builtin_clz(lanes_of(ballot) | 1u); }

OVL uint4 get_sub_group_eq_mask(void) { return (uint4)(1u << lane(), 0, 0, 0); }
OVL uint4 get_sub_group_ge_mask(void) { return (uint4)(ALL_LANES & -(1u << lane()), 0, 0, 0); }
OVL uint4 get_sub_group_gt_mask(void) { return (uint4)(ALL_LANES & -(2u << lane()), 0, 0, 0); }
OVL uint4 get_sub_group_le_mask(void) { return (uint4)((2u << lane()) - 1, 0, 0, 0); }
OVL uint4 get_sub_group_lt_mask(void) { return (uint4)((1u << lane()) - 1, 0, 0, 0); }

// --- logical operations ---------------------------------------------------------------------------------------------
#define LOGICAL(OP)                                                                                                    \
    __attribute__((convergent)) int __lockstep_gang_reduce_##OP##_int(int x);                                          \
    __attribute__((convergent, nomerge)) int __lockstep_gang_reduce_##OP##_int_cluster(int x, uint size);              \
    __attribute__((convergent)) int __lockstep_gang_inclusive_##OP##_int(int x);                                       \
    __attribute__((convergent)) int __lockstep_gang_exclusive_##OP##_int(int x);                                       \
    CONVERGENT int sub_group_non_uniform_reduce_logical_##OP(int x)                                                    \
    {                                                                                                                  \
        return __lockstep_gang_reduce_##OP##_int(x != 0);                                                              \
    }                                                                                                                  \
    CONVERGENT int sub_group_non_uniform_scan_inclusive_logical_##OP(int x)                                            \
    {                                                                                                                  \
        return __lockstep_gang_inclusive_##OP##_int(x != 0);                                                           \
    }                                                                                                                  \
    CONVERGENT int sub_group_non_uniform_scan_exclusive_logical_##OP(int x)                                            \
    {                                                                                                                  \
        return __lockstep_gang_exclusive_##OP##_int(x != 0) & 1;                                                       \
    }                                                                                                                  \
    CONVERGENT int sub_group_clustered_reduce_logical_##OP(int x, uint size)                                           \
    {                                                                                                                  \
        return __lockstep_gang_reduce_##OP##_int_cluster(x != 0, size);                                                \
    }
LOGICAL(and)
LOGICAL(or)
LOGICAL(xor)
