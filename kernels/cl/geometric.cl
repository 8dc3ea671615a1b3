// 6.15.5 Geometric functions. Float is computed in double and half in float: no overflow on the way, one rounding.
#include "lockstep.h"

#define SUM_(x) (x)
#define SUM_2(x) ((x).s0 + (x).s1)
#define SUM_3(x) ((x).s0 + (x).s1 + (x).s2)
#define SUM_4(x) (((x).s0 + (x).s1) + ((x).s2 + (x).s3))

#define FOR_GEOMETRIC(M) M() M(2) M(3) M(4)

// --- dot, cross -----------------------------------------------------------------------------------------------------
#define DOT(T)                                                                                                         \
    OVL T dot(T x, T y) { return x * y; }                                                                              \
    OVL T dot(T##2 x, T##2 y) { return mul_add(x.s1, y.s1, x.s0 * y.s0); }                                             \
    OVL T dot(T##3 x, T##3 y) { return mul_add(x.s2, y.s2, mul_add(x.s1, y.s1, x.s0 * y.s0)); }                        \
    OVL T dot(T##4 x, T##4 y)                                                                                          \
    {                                                                                                                  \
        return mul_add(x.s3, y.s3, mul_add(x.s2, y.s2, mul_add(x.s1, y.s1, x.s0 * y.s0)));                             \
    }
DOT(float)
DOT(double)
#define DOT_HALF(N)                                                                                                    \
    OVL half dot(half##N x, half##N y) { return (half)dot(CONVERT(N, float, x), CONVERT(N, float, y)); }
FOR_GEOMETRIC(DOT_HALF)

#define CROSS(T)                                                                                                       \
    OVL T##3 cross(T##3 x, T##3 y) { return x.yzx * y.zxy - x.zxy * y.yzx; }                                           \
    OVL T##4 cross(T##4 x, T##4 y) { return (T##4)(cross(x.xyz, y.xyz), (T)0); }
CROSS(float)
CROSS(double)
OVL half3 cross(half3 x, half3 y)
{
    return __builtin_convertvector(cross(CONVERT(3, float, x), CONVERT(3, float, y)), half3);
}
OVL half4 cross(half4 x, half4 y) { return (half4)(cross(x.xyz, y.xyz), (half)0); }

// --- length, distance -----------------------------------------------------------------------------------------------
#define LENGTH_FLOAT(N)                                                                                                \
    INL double exact_squares(float##N v)                                                                               \
    {                                                                                                                  \
        double##N d = CONVERT(N, double, v);                                                                           \
        return SUM_##N(d * d);                                                                                         \
    }                                                                                                                  \
    OVL float length(float##N v) { return (float)__builtin_elementwise_sqrt(exact_squares(v)); }                       \
    OVL float distance(float##N x, float##N y)                                                                         \
    {                                                                                                                  \
        double##N d = CONVERT(N, double, x) - CONVERT(N, double, y);                                                   \
        return (float)__builtin_elementwise_sqrt(SUM_##N(d * d));                                                      \
    }                                                                                                                  \
    OVL float fast_length(float##N v) { return __builtin_elementwise_sqrt(dot(v, v)); }                                \
    OVL float fast_distance(float##N x, float##N y) { return fast_length(x - y); }                                     \
    OVL half length(half##N v) { return (half)__builtin_elementwise_sqrt(dot(CONVERT(N, float, v), CONVERT(N, float, v))); } \
    OVL half distance(half##N x, half##N y)                                                                            \
    {                                                                                                                  \
        float##N d = CONVERT(N, float, x) - CONVERT(N, float, y);                                                      \
        return (half)__builtin_elementwise_sqrt(dot(d, d));                                                            \
    }
FOR_GEOMETRIC(LENGTH_FLOAT)

// A double vector is scaled by a power of two where its squares would leave the range.
#define LARGEST_(v) (v)
#define LARGEST_2(v) __builtin_elementwise_max((v).s0, (v).s1)
#define LARGEST_3(v) __builtin_elementwise_max(LARGEST_2(v), (v).s2)
#define LARGEST_4(v) __builtin_elementwise_max(LARGEST_2(v), __builtin_elementwise_max((v).s2, (v).s3))
#define LENGTH_DOUBLE(N)                                                                                               \
    INL double scale_of(double##N v)                                                                                   \
    {                                                                                                                  \
        double##N a = __builtin_elementwise_abs(v);                                                                    \
        double m = LARGEST_##N(a);                                                                                     \
        return m > 0x1p500 ? 0x1p-540 : m < 0x1p-450 ? 0x1p560 : 1.0;                                                  \
    }                                                                                                                  \
    OVL double length(double##N v)                                                                                     \
    {                                                                                                                  \
        double scale = scale_of(v);                                                                                    \
        double##N s = v * scale;                                                                                       \
        double back = scale > 1.0 ? 0x1p-560 : scale < 1.0 ? 0x1p540 : 1.0;                                            \
        return __builtin_elementwise_sqrt(dot(s, s)) * back;                                                           \
    }                                                                                                                  \
    OVL double distance(double##N x, double##N y) { return length(x - y); }
FOR_GEOMETRIC(LENGTH_DOUBLE)

// --- normalize ------------------------------------------------------------------------------------------------------
// With infinite elements the direction is theirs: they count as +-1 and the finite ones as 0. NaN stays NaN.
#define DIRECTION(T, N)                                                                                                \
    INL T##N direction(T##N v)                                                                                         \
    {                                                                                                                  \
        T##N a = __builtin_elementwise_abs(v);                                                                         \
        T##N finite = v, infinite = v;                                                                                 \
        infinite = a == (T##N)(T)INFINITY ? __builtin_elementwise_copysign((T##N)(T)1, v)                              \
                                          : (v != v ? v : __builtin_elementwise_copysign((T##N)(T)0, v));              \
        return ANY_##N(a == (T##N)(T)INFINITY) ? infinite : finite;                                                    \
    }
#define ANY_(x) (x)
#define ANY_2(x) (((x).s0 | (x).s1) != 0)
#define ANY_3(x) (((x).s0 | (x).s1 | (x).s2) != 0)
#define ANY_4(x) (((x).s0 | (x).s1 | (x).s2 | (x).s3) != 0)
#define NORMALIZE(N)                                                                                                   \
    DIRECTION(float, N)                                                                                                \
    DIRECTION(double, N)                                                                                               \
    OVL float##N normalize(float##N v)                                                                                 \
    {                                                                                                                  \
        float##N u = direction(v);                                                                                     \
        double squares = exact_squares(u);                                                                             \
        double inverse = 1.0 / __builtin_elementwise_sqrt(squares == 0.0 ? 1.0 : squares);                             \
        double##N r = CONVERT(N, double, u) * inverse;                                                                 \
        return CONVERT(N, float, r);                                                                                   \
    }                                                                                                                  \
    OVL double##N normalize(double##N v)                                                                               \
    {                                                                                                                  \
        double##N u = direction(v);                                                                                    \
        double scale = scale_of(u), up = scale > 1.0 ? scale : 1.0, down = scale < 1.0 ? scale : 1.0;                  \
        double##N s = u * scale;                                                                                       \
        double squares = dot(s, s);                                                                                    \
        /* Scaled down, a small element would lose bits that the result has. */                                        \
        return u * up / __builtin_elementwise_sqrt(squares == 0.0 ? 1.0 : squares) * down;                             \
    }                                                                                                                  \
    OVL half##N normalize(half##N v) { return CONVERT(N, half, normalize(CONVERT(N, float, v))); }                     \
    OVL float##N fast_normalize(float##N v)                                                                            \
    {                                                                                                                  \
        float squares = dot(v, v);                                                                                     \
        return v * (1.0f / __builtin_elementwise_sqrt(squares == 0.0f ? 1.0f : squares));                              \
    }
FOR_GEOMETRIC(NORMALIZE)
