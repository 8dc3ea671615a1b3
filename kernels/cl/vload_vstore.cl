// 6.15.7 Vector data load and store functions: compiled once for each type.
#include "unaligned.h"

#define VLOAD(T, N)                                                                                                    \
    VLOAD_FROM(T, N, global) VLOAD_FROM(T, N, local) VLOAD_FROM(T, N, constant) VLOAD_FROM(T, N, private)              \
    VLOAD_FROM(T, N, generic)
#define VLOAD_FROM(T, N, AS)                                                                                           \
    OVL T##N vload##N(size_t offset, const AS T *p) { return *(const AS T##N##_unaligned *)(p + offset * N); }
FOR_TYPES(FOR_VECTORS, VLOAD)

#define VSTORE(T, N)                                                                                                   \
    VSTORE_TO(T, N, global) VSTORE_TO(T, N, local) VSTORE_TO(T, N, private) VSTORE_TO(T, N, generic)
#define VSTORE_TO(T, N, AS)                                                                                            \
    OVL void vstore##N(T##N data, size_t offset, AS T *p) { STORE_##N(AS, T, p + offset * N, data); }
FOR_TYPES(FOR_VECTORS, VSTORE)
