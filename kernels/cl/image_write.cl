// 6.15.15.4 Built-in image write functions. A write outside the image is none.
#include "image.h"

#define INSIDE_1D(m, c) within(c, WIDTH(m))
#define INSIDE_2D(m, c) (within(c.x, WIDTH(m)) & within(c.y, HEIGHT(m)))
#define PUT_1D(m, c, v) write(m, c, 0, 0, INSIDE_1D(m, c), v)
#define PUT_1D_ARRAY(m, c, v) write(m, c.x, 0, c.y, within(c.x, WIDTH(m)) & within(c.y, DEPTH(m)), v)
#define PUT_2D(m, c, v) write(m, c.x, c.y, 0, INSIDE_2D(m, c), v)
#define PUT_3D(m, c, v) write(m, c.x, c.y, c.z, INSIDE_2D(m, c) & within(c.z, DEPTH(m)), v)

#define WRITE(D, ACCESS, TYPE, N)                                                                                      \
    OVL void write_imagef(ACCESS TYPE image, int##N c, float4 v) { PUT_##D(RECORD(image), c, v); }                     \
    OVL void write_imagei(ACCESS TYPE image, int##N c, int4 v) { PUT_##D(RECORD(image), c, v); }                       \
    OVL void write_imageui(ACCESS TYPE image, int##N c, uint4 v) { PUT_##D(RECORD(image), c, v); }                     \
    OVL void write_imageh(ACCESS TYPE image, int##N c, half4 v)                                                        \
    {                                                                                                                  \
        PUT_##D(RECORD(image), c, __builtin_convertvector(v, float4));                                                 \
    }
#define WRITES(D, TYPE, N) WRITE(D, write_only, TYPE, N) WRITE(D, read_write, TYPE, N)
WRITES(1D, image1d_t, )
WRITES(1D, image1d_buffer_t, )
WRITES(1D_ARRAY, image1d_array_t, 2)
WRITES(2D, image2d_t, 2)
WRITES(3D, image2d_array_t, 4)
WRITES(3D, image3d_t, 4)

#define WRITE_DEPTH(D, TYPE, N)                                                                                        \
    OVL void write_imagef(write_only TYPE image, int##N c, float v) { PUT_##D(RECORD(image), c, (float4)v); }          \
    OVL void write_imagef(read_write TYPE image, int##N c, float v) { PUT_##D(RECORD(image), c, (float4)v); }
WRITE_DEPTH(2D, image2d_depth_t, 2)
WRITE_DEPTH(3D, image2d_array_depth_t, 4)
