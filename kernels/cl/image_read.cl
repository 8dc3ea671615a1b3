// 6.15.15.2 and 6.15.15.3 Built-in image read functions, with and without a sampler.
#include "image.h"

// What a read without a sampler does: whole coordinates, the nearest element, nothing said of places outside.
#define PLAIN (CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST)

// --- with a sampler -------------------------------------------------------------------------------------------------
// Of each type of image: the elements at whole coordinates (AT) and at others (NEAR), and mixed ones.
#define AT_1D(T, m, s, c) nearest1(BORDER(T, m), m, s, c, 0)
#define AT_1D_ARRAY(T, m, s, c) nearest1(BORDER(T, m), m, s, c.x, layer(m, c.y))
#define AT_2D(T, m, s, c) nearest2(BORDER(T, m), m, s, c.x, c.y, 0)
#define AT_2D_ARRAY(T, m, s, c) nearest2(BORDER(T, m), m, s, c.x, c.y, layer(m, c.z))
#define AT_3D(T, m, s, c) nearest3(BORDER(T, m), m, s, c.x, c.y, c.z)
#define NEAR_1D(m, s, c) nearest(s, c, WIDTH(m))
#define NEAR_1D_ARRAY(m, s, c) (int2)(nearest(s, c.x, WIDTH(m)), layer(m, c.y))
#define NEAR_2D(m, s, c) (int2)(nearest(s, c.x, WIDTH(m)), nearest(s, c.y, HEIGHT(m)))
#define NEAR_2D_ARRAY(m, s, c) (int4)(NEAR_2D(m, s, c), layer(m, c.z), 0)
#define NEAR_3D(m, s, c) (int4)(NEAR_2D(m, s, c), nearest(s, c.z, DEPTH(m)), 0)
#define MIX_1D(m, s, c) linear1(m, s, c, 0)
#define MIX_1D_ARRAY(m, s, c) linear1(m, s, c.x, layer(m, c.y))
#define MIX_2D(m, s, c) linear2(m, s, c.x, c.y, 0)
#define MIX_2D_ARRAY(m, s, c) linear2(m, s, c.x, c.y, layer(m, c.z))
#define MIX_3D(m, s, c) linear3(m, s, c.x, c.y, c.z)

#define SAMPLED_FLOAT(D, TYPE, N, R, NAME, OF)                                                                         \
    OVL R NAME(read_only TYPE image, sampler_t sampler, int##N c)                                                      \
    {                                                                                                                  \
        return OF(AT_##D(float, RECORD(image), BITS(sampler), c));                                                     \
    }                                                                                                                  \
    OVL R NAME(read_only TYPE image, sampler_t sampler, float##N c)                                                    \
    {                                                                                                                  \
        record m = RECORD(image);                                                                                      \
        uint s = BITS(sampler);                                                                                        \
        if (IS_LINEAR(s))                                                                                              \
            return OF(MIX_##D(m, s, c));                                                                               \
        int##N i = NEAR_##D(m, s, c);                                                                                  \
        return OF(AT_##D(float, m, s, i));                                                                             \
    }
#define SAMPLED_INTEGER(D, TYPE, N, T, NAME)                                                                           \
    OVL T##4 NAME(read_only TYPE image, sampler_t sampler, int##N c)                                                   \
    {                                                                                                                  \
        return AT_##D(T, RECORD(image), BITS(sampler), c);                                                             \
    }                                                                                                                  \
    OVL T##4 NAME(read_only TYPE image, sampler_t sampler, float##N c)                                                 \
    {                                                                                                                  \
        record m = RECORD(image);                                                                                      \
        uint s = BITS(sampler);                                                                                        \
        int##N i = NEAR_##D(m, s, c);                                                                                  \
        return AT_##D(T, m, s, i);                                                                                     \
    }
#define ITSELF(v) (v)
#define FIRST(v) (v).x
#define HALVES_OF(v) __builtin_convertvector(v, half4)
#define SAMPLED(D, TYPE, N)                                                                                            \
    SAMPLED_FLOAT(D, TYPE, N, float4, read_imagef, ITSELF)                                                             \
    SAMPLED_FLOAT(D, TYPE, N, half4, read_imageh, HALVES_OF)                                                           \
    SAMPLED_INTEGER(D, TYPE, N, int, read_imagei)                                                                      \
    SAMPLED_INTEGER(D, TYPE, N, uint, read_imageui)
SAMPLED(1D, image1d_t, )
SAMPLED(1D_ARRAY, image1d_array_t, 2)
SAMPLED(2D, image2d_t, 2)
SAMPLED(2D_ARRAY, image2d_array_t, 4)
SAMPLED(3D, image3d_t, 4)
SAMPLED_FLOAT(2D, image2d_depth_t, 2, float, read_imagef, FIRST)
SAMPLED_FLOAT(2D_ARRAY, image2d_array_depth_t, 4, float, read_imagef, FIRST)

// --- without one ----------------------------------------------------------------------------------------------------
#define UNSAMPLED_TYPE(D, TYPE, N, T, R, NAME, OF)                                                                     \
    OVL R NAME(read_only TYPE image, int##N c) { return OF(AT_##D(T, RECORD(image), PLAIN, c)); }                      \
    OVL R NAME(read_write TYPE image, int##N c) { return OF(AT_##D(T, RECORD(image), PLAIN, c)); }
#define UNSAMPLED(D, TYPE, N)                                                                                          \
    UNSAMPLED_TYPE(D, TYPE, N, float, float4, read_imagef, ITSELF)                                                     \
    UNSAMPLED_TYPE(D, TYPE, N, float, half4, read_imageh, HALVES_OF)                                                   \
    UNSAMPLED_TYPE(D, TYPE, N, int, int4, read_imagei, ITSELF)                                                         \
    UNSAMPLED_TYPE(D, TYPE, N, uint, uint4, read_imageui, ITSELF)
UNSAMPLED(1D, image1d_t, )
UNSAMPLED(1D, image1d_buffer_t, )
UNSAMPLED(1D_ARRAY, image1d_array_t, 2)
UNSAMPLED(2D, image2d_t, 2)
UNSAMPLED(2D_ARRAY, image2d_array_t, 4)
UNSAMPLED(3D, image3d_t, 4)
UNSAMPLED_TYPE(2D, image2d_depth_t, 2, float, float, read_imagef, FIRST)
UNSAMPLED_TYPE(2D_ARRAY, image2d_array_depth_t, 4, float, float, read_imagef, FIRST)
