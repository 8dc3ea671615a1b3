// Private arrays whose length is known only when the kernel runs (SPV_INTEL_variable_length_array). A function that makes some has memory
// from which they take their parts, one behind the other. The front end of SPIR-V calls this.
#include "lockstep.h"

#pragma OPENCL EXTENSION __cl_clang_variadic_functions : enable

// The launch fails with this text, and no work-item of the group goes on. A trap has to follow, which tells LLVM so.
__attribute__((cold, nomerge)) void __lockstep_fail(constant char *format, ...);

// The address of an array of `count` elements of `size` bytes each in memory of `room` bytes, of which the first `used` are taken. The
// memory is as aligned as the array is to be.
OVL private uchar *__lockstep_take_private_array(private uchar *memory, private ulong *used, ulong room, ulong count,
                                                 ulong size, ulong alignment)
{
    ulong start = (*used + alignment - 1) & -alignment;
    ulong left = start < room ? room - start : 0;
    if (count > left / size) {
        __lockstep_fail("there is no private memory for an array of %lu elements of %lu bytes: %lu of %lu bytes are left",
                        count, size, left, room);
        __builtin_trap();
    }
    *used = start + count * size;
    return memory + start;
}
