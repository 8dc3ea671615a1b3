// 6.15.4 Common functions: compiled once for each type.
#include "lockstep.h"

#define DEGREES_half 0x1.ca5dc2p+5f
#define DEGREES_float 0x1.ca5dc2p+5f
#define DEGREES_double 0x1.ca5dc1a63c1f8p+5
#define RADIANS_half 0x1.1df46ap-6f
#define RADIANS_float 0x1.1df46ap-6f
#define RADIANS_double 0x1.1df46a2529d39p-6

#define COMMON(T, N)                                                                                                   \
    OVL T##N max(T##N x, T##N y) { return x < y ? y : x; }                                                             \
    OVL T##N min(T##N x, T##N y) { return y < x ? y : x; }                                                             \
    OVL T##N clamp(T##N x, T##N lo, T##N hi) { return min(max(x, lo), hi); }                                           \
    OVL T##N degrees(T##N x) { return x * (T##N)(T)DEGREES_##T; }                                                      \
    OVL T##N radians(T##N x) { return x * (T##N)(T)RADIANS_##T; }                                                      \
    OVL T##N step(T##N edge, T##N x) { return x < edge ? (T##N)(T)0 : (T##N)(T)1; }                                    \
    OVL T##N mix(T##N x, T##N y, T##N a)                                                                               \
    {                                                                                                                  \
        _Pragma("clang fp contract(on)") return x + (y - x) * a;                                                       \
    }                                                                                                                  \
    OVL T##N smoothstep(T##N edge0, T##N edge1, T##N x)                                                                \
    {                                                                                                                  \
        T##N t = clamp((x - edge0) / (edge1 - edge0), (T##N)(T)0, (T##N)(T)1);                                         \
        return t * t * ((T##N)(T)3 - (T##N)(T)2 * t);                                                                  \
    }                                                                                                                  \
    OVL T##N sign(T##N x)                                                                                              \
    {                                                                                                                  \
        /* +-0 stays as it is, NaN gives 0 */                                                                          \
        T##N one = __builtin_elementwise_copysign((T##N)(T)1, x);                                                      \
        return x == (T##N)(T)0 ? x : x != x ? (T##N)(T)0 : one;                                                        \
    }
FOR_FLOATS(FOR_LENGTHS, COMMON)

#define COMMON_SCALAR(T, N)                                                                                            \
    OVL T##N max(T##N x, T y) { return max(x, (T##N)y); }                                                              \
    OVL T##N min(T##N x, T y) { return min(x, (T##N)y); }                                                              \
    OVL T##N clamp(T##N x, T lo, T hi) { return clamp(x, (T##N)lo, (T##N)hi); }                                        \
    OVL T##N step(T edge, T##N x) { return step((T##N)edge, x); }                                                      \
    OVL T##N mix(T##N x, T##N y, T a) { return mix(x, y, (T##N)a); }                                                   \
    OVL T##N smoothstep(T edge0, T edge1, T##N x) { return smoothstep((T##N)edge0, (T##N)edge1, x); }
FOR_FLOATS(FOR_VECTORS, COMMON_SCALAR)
