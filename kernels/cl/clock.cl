// cl_khr_kernel_clock. There is one clock, which all work-items of the device share.
#include "lockstep.h"

// Each call is a reading of its own.
__attribute__((convergent, nomerge)) ulong __lockstep_clock(void);

#define CLOCK(SCOPE)                                                                                                   \
    OVL ulong clock_read_##SCOPE(void) { return __lockstep_clock(); }                                                  \
    OVL uint2 clock_read_hilo_##SCOPE(void) { return as_uint2(__lockstep_clock()); }
CLOCK(device)
CLOCK(work_group)
CLOCK(sub_group)
