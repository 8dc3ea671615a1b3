// 6.15.9 Synchronization functions and fences (the memory side is LLVM's own fence instruction).
#include "lockstep.h"

OVL void __attribute__((convergent)) barrier(cl_mem_fence_flags flags)
{
    __lockstep_barrier(flags, memory_scope_work_group);
}

OVL void __attribute__((convergent)) work_group_barrier(cl_mem_fence_flags flags)
{
    __lockstep_barrier(flags, memory_scope_work_group);
}

OVL void __attribute__((convergent)) work_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
    __lockstep_barrier(flags, scope);
}

// cl_intel_split_work_group_barrier. All have to arrive before one goes on, so who arrives only makes known what it wrote,
// and who waits does so at a whole barrier.
OVL void __attribute__((convergent)) intel_work_group_barrier_arrive(cl_mem_fence_flags flags, memory_scope scope)
{
    __c11_atomic_thread_fence(memory_order_release);
}

OVL void __attribute__((convergent)) intel_work_group_barrier_arrive(cl_mem_fence_flags flags)
{
    __c11_atomic_thread_fence(memory_order_release);
}

OVL void __attribute__((convergent)) intel_work_group_barrier_wait(cl_mem_fence_flags flags, memory_scope scope)
{
    __lockstep_barrier(flags, scope);
}

OVL void __attribute__((convergent)) intel_work_group_barrier_wait(cl_mem_fence_flags flags)
{
    __lockstep_barrier(flags, memory_scope_work_group);
}

// The host's memory is coherent for every scope and there is one kind of memory behind all address spaces, so neither
// flags nor scope weaken a fence.
OVL void atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope)
{
    __c11_atomic_thread_fence(order);
}

OVL void mem_fence(cl_mem_fence_flags flags) { __c11_atomic_thread_fence(memory_order_acq_rel); }
OVL void read_mem_fence(cl_mem_fence_flags flags) { __c11_atomic_thread_fence(memory_order_acquire); }
OVL void write_mem_fence(cl_mem_fence_flags flags) { __c11_atomic_thread_fence(memory_order_release); }
