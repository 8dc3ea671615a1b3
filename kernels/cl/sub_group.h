// What the chapters on sub-groups share. A sub-group is a gang: work-items with consecutive linear ids in the lanes of
// SIMD registers. Functions act on the lanes that arrive together.
#ifndef LOCKSTEP_SUB_GROUP_H
#define LOCKSTEP_SUB_GROUP_H

#include "lockstep.h"

#define CONVERGENT OVL __attribute__((convergent))
#define LANES_INL INL __attribute__((convergent))

// The lanes of a gang, a power of two up to 32. Programs whose kernels ask for a number get chapters in which it is one of
// each kernel (frontend/sub_group_size.rs); for all others the compiler knows it as well (layout.rs).
#ifdef SIZED
PRIMITIVE uint __lockstep_sub_group_size(void);
#define SUB_GROUP __lockstep_sub_group_size()
#else
#define SUB_GROUP 16u
#endif

// get_local_linear_id.
PRIMITIVE ulong __lockstep_linear_id(void);
// The active lanes for which the condition holds.
__attribute__((convergent)) ulong __lockstep_gang_ballot(bool condition);
// T __lockstep_gang_shuffle_<T>(T, uint lane): what that lane holds.
// T __lockstep_gang_<how>_<op>_<T>(T): as __lockstep_collective_…, of the active lanes. A reduction may have the size of
// clusters as a second operand.

INL uint lane(void) { return (uint)__lockstep_linear_id() & (SUB_GROUP - 1); }
LANES_INL ulong active_lanes(void) { return __lockstep_gang_ballot(true); }
// The first active lane.
LANES_INL uint first_lane(void) { return (uint)__builtin_ctzl(active_lanes()); }

#endif
