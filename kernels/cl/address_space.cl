// 6.15.10 Address space qualifier functions. clang calls the three casts by the names below, without mangling.
#include "lockstep.h"

// What the primitive answers.
#define IN_PRIVATE 0
#define IN_GLOBAL 1
#define IN_LOCAL 3

INL cl_mem_fence_flags fence_of(const generic void *p)
{
    uint space = __lockstep_address_space(p);
    return space == IN_LOCAL ? CLK_LOCAL_MEM_FENCE : space == IN_GLOBAL ? CLK_GLOBAL_MEM_FENCE : 0;
}
OVL cl_mem_fence_flags get_fence(generic void *p) { return fence_of(p); }
OVL cl_mem_fence_flags get_fence(const generic void *p) { return fence_of(p); }

global void *__to_global(generic void *p) { return __lockstep_address_space(p) == IN_GLOBAL ? (global void *)p : 0; }
local void *__to_local(generic void *p) { return __lockstep_address_space(p) == IN_LOCAL ? (local void *)p : 0; }
private void *__to_private(generic void *p) { return __lockstep_address_space(p) == IN_PRIVATE ? (private void *)p : 0; }
