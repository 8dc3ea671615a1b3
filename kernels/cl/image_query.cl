// 6.15.15.5 Built-in image query functions, and samplers of programs.
#include "image.h"

// What clang makes of a sampler that is written down in a program.
uint __translate_sampler_initializer(uint bits);
uint __translate_sampler_initializer(uint bits) { return bits; }

#define QUERY(F, R, T, EXPRESSION)                                                                                     \
    OVL R F(T image)                                                                                                   \
    {                                                                                                                  \
        record m = RECORD(image);                                                                                      \
        return EXPRESSION;                                                                                             \
    }
#define OF_ALL(T)                                                                                                      \
    QUERY(get_image_width, int, T, WIDTH(m))                                                                           \
    QUERY(get_image_channel_data_type, int, T, DATA_TYPE(m))                                                           \
    QUERY(get_image_channel_order, int, T, ORDER(m))
#define OF_PLANES(T)                                                                                                   \
    OF_ALL(T)                                                                                                          \
    QUERY(get_image_height, int, T, HEIGHT(m))                                                                         \
    QUERY(get_image_dim, int2, T, (int2)(WIDTH(m), HEIGHT(m)))
#define OF_ARRAYS(T) QUERY(get_image_array_size, size_t, T, (size_t)DEPTH(m))
#define OF_VOLUMES(T)                                                                                                  \
    OF_ALL(T)                                                                                                          \
    QUERY(get_image_height, int, T, HEIGHT(m))                                                                         \
    QUERY(get_image_depth, int, T, DEPTH(m))                                                                           \
    QUERY(get_image_dim, int4, T, (int4)(WIDTH(m), HEIGHT(m), DEPTH(m), 0))
FOR_ACCESS(OF_ALL, image1d_t)
FOR_ACCESS(OF_ALL, image1d_buffer_t)
FOR_ACCESS(OF_ALL, image1d_array_t)
FOR_ACCESS(OF_ARRAYS, image1d_array_t)
FOR_ACCESS(OF_PLANES, image2d_t)
FOR_ACCESS(OF_PLANES, image2d_depth_t)
FOR_ACCESS(OF_PLANES, image2d_array_t)
FOR_ACCESS(OF_ARRAYS, image2d_array_t)
FOR_ACCESS(OF_PLANES, image2d_array_depth_t)
FOR_ACCESS(OF_ARRAYS, image2d_array_depth_t)
FOR_ACCESS(OF_VOLUMES, image3d_t)
