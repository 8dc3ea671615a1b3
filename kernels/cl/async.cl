// 6.15.13 Asynchronous copies between global and local memory, and prefetch.
//
// The work-items of a group share a copy: each takes every size-th element. The barrier of wait_group_events makes all
// parts visible to all. Nothing is left to wait for in an event itself, so the caller's event is handed back.
#include "lockstep.h"

INL ulong linear_id(void)
{
    return (__lockstep_local_id(2) * __lockstep_local_size(1) + __lockstep_local_id(1)) * __lockstep_local_size(0) +
           __lockstep_local_id(0);
}
INL ulong group_size(void)
{
    return __lockstep_local_size(0) * __lockstep_local_size(1) * __lockstep_local_size(2);
}

// The stride counts elements of global memory, whichever side that is.
#define COPY(T, N)                                                                                                     \
    OVL event_t async_work_group_copy(local T##N *to, const global T##N *from, size_t count, event_t event)            \
    {                                                                                                                  \
        for (size_t i = linear_id(); i < count; i += group_size())                                                     \
            to[i] = from[i];                                                                                           \
        return event;                                                                                                  \
    }                                                                                                                  \
    OVL event_t async_work_group_copy(global T##N *to, const local T##N *from, size_t count, event_t event)            \
    {                                                                                                                  \
        for (size_t i = linear_id(); i < count; i += group_size())                                                     \
            to[i] = from[i];                                                                                           \
        return event;                                                                                                  \
    }                                                                                                                  \
    OVL event_t async_work_group_strided_copy(local T##N *to, const global T##N *from, size_t count, size_t stride,    \
                                              event_t event)                                                           \
    {                                                                                                                  \
        for (size_t i = linear_id(); i < count; i += group_size())                                                     \
            to[i] = from[i * stride];                                                                                  \
        return event;                                                                                                  \
    }                                                                                                                  \
    OVL event_t async_work_group_strided_copy(global T##N *to, const local T##N *from, size_t count, size_t stride,    \
                                              event_t event)                                                           \
    {                                                                                                                  \
        for (size_t i = linear_id(); i < count; i += group_size())                                                     \
            to[i * stride] = from[i];                                                                                  \
        return event;                                                                                                  \
    }                                                                                                                  \
    OVL void prefetch(const global T##N *p, size_t count) {}
FOR_TYPES(FOR_LENGTHS, COPY)

#define WAIT(AS)                                                                                                       \
    OVL void __attribute__((convergent)) wait_group_events(int count, AS event_t *events)                              \
    {                                                                                                                  \
        __lockstep_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_work_group);                       \
    }
WAIT(private)
WAIT(local)
WAIT(global)
WAIT(generic)
