// 6.15.1 Work-item functions.
#include "lockstep.h"

// Each primitive wants a literal dimension, so a dimension known only at run time chooses among three calls.
#define QUERY(NAME, PRIMITIVE_NAME, OUTSIDE)                                                                           \
    OVL size_t NAME(uint d)                                                                                            \
    {                                                                                                                  \
        switch (d) {                                                                                                   \
        case 0: return PRIMITIVE_NAME(0);                                                                              \
        case 1: return PRIMITIVE_NAME(1);                                                                              \
        case 2: return PRIMITIVE_NAME(2);                                                                              \
        default: return OUTSIDE;                                                                                       \
        }                                                                                                              \
    }

QUERY(get_global_id, __lockstep_global_id, 0)
QUERY(get_local_id, __lockstep_local_id, 0)
QUERY(get_group_id, __lockstep_group_id, 0)
QUERY(get_global_offset, __lockstep_global_offset, 0)
QUERY(get_global_size, __lockstep_global_size, 1)
QUERY(get_local_size, __lockstep_local_size, 1)
QUERY(get_enqueued_local_size, __lockstep_enqueued_local_size, 1)
QUERY(get_num_groups, __lockstep_num_groups, 1)

OVL uint get_work_dim(void) { return __lockstep_work_dim(); }

OVL size_t get_global_linear_id(void)
{
    ulong x = __lockstep_global_id(0) - __lockstep_global_offset(0);
    ulong y = __lockstep_global_id(1) - __lockstep_global_offset(1);
    ulong z = __lockstep_global_id(2) - __lockstep_global_offset(2);
    return (z * __lockstep_global_size(1) + y) * __lockstep_global_size(0) + x;
}

OVL size_t get_local_linear_id(void)
{
    return (__lockstep_local_id(2) * __lockstep_local_size(1) + __lockstep_local_id(1)) * __lockstep_local_size(0) +
           __lockstep_local_id(0);
}
