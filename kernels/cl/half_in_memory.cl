// 6.15.7 Vector data load and store functions: half in memory, float or double in registers.
#include "convert.h"
#include "unaligned.h"

// The aligned forms address vectors of three like vectors of four.
#define STRIDE_2 2
#define STRIDE_3 4
#define STRIDE_4 4
#define STRIDE_8 8
#define STRIDE_16 16

#define VLOAD_HALF(AS, N)                                                                                              \
    OVL float##N vload_half##N(size_t offset, const AS half *p)                                                        \
    {                                                                                                                  \
        return __builtin_convertvector(*(const AS half##N##_unaligned *)(p + offset * N), float##N);                   \
    }                                                                                                                  \
    OVL float##N vloada_half##N(size_t offset, const AS half *p)                                                       \
    {                                                                                                                  \
        return __builtin_convertvector(*(const AS half##N##_unaligned *)(p + offset * STRIDE_##N), float##N);          \
    }
#define VLOAD_HALF_FROM(AS)                                                                                            \
    OVL float vload_half(size_t offset, const AS half *p) { return (float)p[offset]; }                                 \
    OVL float vloada_half(size_t offset, const AS half *p) { return (float)p[offset]; }                                \
    FOR_VECTORS(VLOAD_HALF, AS)
VLOAD_HALF_FROM(global)
VLOAD_HALF_FROM(local)
VLOAD_HALF_FROM(constant)
VLOAD_HALF_FROM(private)
VLOAD_HALF_FROM(generic)

#define HALVES(S, MODE)                                                                                                \
    INL half2 halves##MODE(S##2 x) { return (half2)(to_half##MODE(x.s0), to_half##MODE(x.s1)); }                       \
    INL half3 halves##MODE(S##3 x) { return (half3)(to_half##MODE(x.s0), to_half##MODE(x.s1), to_half##MODE(x.s2)); }  \
    INL half4 halves##MODE(S##4 x) { return (half4)(halves##MODE(x.lo), halves##MODE(x.hi)); }                         \
    INL half8 halves##MODE(S##8 x) { return (half8)(halves##MODE(x.lo), halves##MODE(x.hi)); }                         \
    INL half16 halves##MODE(S##16 x) { return (half16)(halves##MODE(x.lo), halves##MODE(x.hi)); }
#define HALVES_FROM(S) HALVES(S, ) HALVES(S, _rte) HALVES(S, _rtz) HALVES(S, _rtp) HALVES(S, _rtn)
HALVES_FROM(float)
HALVES_FROM(double)

#define VSTORE_HALF(AS, S, MODE, N)                                                                                    \
    OVL void vstore_half##N##MODE(S##N data, size_t offset, AS half *p)                                                \
    {                                                                                                                  \
        STORE_##N(AS, half, p + offset * N, halves##MODE(data));                                                   \
    }                                                                                                                  \
    OVL void vstorea_half##N##MODE(S##N data, size_t offset, AS half *p)                                               \
    {                                                                                                                  \
        STORE_##N(AS, half, p + offset * STRIDE_##N, halves##MODE(data));                                          \
    }
#define VSTORE_HALF_MODE(AS, S, MODE)                                                                                  \
    OVL void vstore_half##MODE(S data, size_t offset, AS half *p) { p[offset] = to_half##MODE(data); }                 \
    OVL void vstorea_half##MODE(S data, size_t offset, AS half *p) { p[offset] = to_half##MODE(data); }                \
    VSTORE_HALF(AS, S, MODE, 2)                                                                                        \
    VSTORE_HALF(AS, S, MODE, 3)                                                                                        \
    VSTORE_HALF(AS, S, MODE, 4)                                                                                        \
    VSTORE_HALF(AS, S, MODE, 8)                                                                                        \
    VSTORE_HALF(AS, S, MODE, 16)
#define VSTORE_HALF_MODES(AS, S)                                                                                       \
    VSTORE_HALF_MODE(AS, S, )                                                                                          \
    VSTORE_HALF_MODE(AS, S, _rte)                                                                                      \
    VSTORE_HALF_MODE(AS, S, _rtz)                                                                                      \
    VSTORE_HALF_MODE(AS, S, _rtp)                                                                                      \
    VSTORE_HALF_MODE(AS, S, _rtn)
#define VSTORE_HALF_TO(AS) VSTORE_HALF_MODES(AS, float) VSTORE_HALF_MODES(AS, double)
VSTORE_HALF_TO(global)
VSTORE_HALF_TO(local)
VSTORE_HALF_TO(private)
VSTORE_HALF_TO(generic)
