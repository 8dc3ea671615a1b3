// Loads and stores of vectors at addresses aligned to an element only.
#ifndef LOCKSTEP_UNALIGNED_H
#define LOCKSTEP_UNALIGNED_H
#include "lockstep.h"

// Vectors at addresses aligned to an element only.
#define UNALIGNED(T, N) typedef T T##N##_unaligned __attribute__((ext_vector_type(N), aligned(sizeof(T))));
FOR_TYPES(FOR_VECTORS, UNALIGNED)

// clang stores a vector of three as one of four, so these are stored by element. It loads four as well, but of that
// only the three elements used are left in the optimized library.
#define STORE_2(AS, T, p, v) (*(AS T##2_unaligned *)(p) = (v))
#define STORE_3(AS, T, p, v) store_3(v, p)
#define STORE_4(AS, T, p, v) (*(AS T##4_unaligned *)(p) = (v))
#define STORE_8(AS, T, p, v) (*(AS T##8_unaligned *)(p) = (v))
#define STORE_16(AS, T, p, v) (*(AS T##16_unaligned *)(p) = (v))
#define STORE_THREE(AS, T)                                                                                             \
    INL void store_3(T##3 v, AS T *p)                                                                                  \
    {                                                                                                                  \
        p[0] = v.s0;                                                                                                   \
        p[1] = v.s1;                                                                                                   \
        p[2] = v.s2;                                                                                                   \
    }
#define STORE_THREE_TO(M, T) STORE_THREE(global, T) STORE_THREE(local, T) STORE_THREE(private, T) STORE_THREE(generic, T)
FOR_TYPES(STORE_THREE_TO, )

#endif
