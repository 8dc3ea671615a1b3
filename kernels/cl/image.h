// Images and samplers as kernels see them.
//
// The compiler hands an image over as a record in the argument block (runtime/src/image.rs writes it) and a sampler as
// the bits of the CLK_ constants. An element is read as words, of which each component is a field: shifted left and
// then right, it stands alone, whatever the format. All that depends on format and sampler is uniform.
//
// Coordinates are brought into an image's range before anything is accessed, whatever they are.
#ifndef LOCKSTEP_IMAGE_H
#define LOCKSTEP_IMAGE_H
#include "convert.h"
#include "math.h"
#include "unaligned.h"

typedef constant void *record;
typedef global uchar *row;

PRIMITIVE uint __lockstep_image_u32(record image, uint offset);
PRIMITIVE ulong __lockstep_image_u64(record image, uint offset);
PRIMITIVE row __lockstep_image_pointer(record image, uint offset);
// What the build script makes of these hands the operand back.
PRIMITIVE uint __lockstep_identity_sampler(sampler_t sampler);
#define IDENTITY(T) PRIMITIVE OVL record __lockstep_identity_image(T image);
#define FOR_ACCESS(M, T) M(read_only T) M(write_only T) M(read_write T)
FOR_ACCESS(IDENTITY, image1d_t)
FOR_ACCESS(IDENTITY, image1d_buffer_t)
FOR_ACCESS(IDENTITY, image1d_array_t)
FOR_ACCESS(IDENTITY, image2d_t)
FOR_ACCESS(IDENTITY, image2d_array_t)
FOR_ACCESS(IDENTITY, image3d_t)
FOR_ACCESS(IDENTITY, image2d_depth_t)
FOR_ACCESS(IDENTITY, image2d_array_depth_t)
#define RECORD(image) __lockstep_identity_image(image)
#define BITS(sampler) __lockstep_identity_sampler(sampler)

// --- fields of the record -------------------------------------------------------------------------------------------
#define PIXELS(m) __lockstep_image_pointer(m, 0)
#define SLICE_PITCH(m) __lockstep_image_u64(m, 8)
#define SRGB_TABLE(m) ((global const float *)__lockstep_image_pointer(m, 16))
#define ROW_PITCH(m) __lockstep_image_u32(m, 24)
#define WIDTH(m) ((int)__lockstep_image_u32(m, 28))
#define HEIGHT(m) ((int)__lockstep_image_u32(m, 32))
// Slices of a volume or layers of an array.
#define DEPTH(m) ((int)__lockstep_image_u32(m, 36))
#define SIZE(m) __lockstep_image_u32(m, 40)
#define ORDER(m) ((int)__lockstep_image_u32(m, 44))
#define DATA_TYPE(m) ((int)__lockstep_image_u32(m, 48))
#define KIND(m) __lockstep_image_u32(m, 52)
#define CHANNELS(m) __lockstep_image_u32(m, 56)
// Component by component, whether it is stored; whether alpha is 1 outside; whether the component is written.
#define STORED(m, c) (__lockstep_image_u32(m, 60) >> (c) & 1)
#define BORDER_ALPHA(m) (__lockstep_image_u32(m, 60) >> 4 & 1)
#define WRITTEN(m, c) (__lockstep_image_u32(m, 60) >> (8 + (c)) & 1)
#define LEFT(m, c) (__lockstep_image_u32(m, 64) >> (8 * (c)) & 31)
#define RIGHT(m, c) (__lockstep_image_u32(m, 68) >> (8 * (c)) & 31)
// The largest number of a normalized component.
#define MOST(m, c) as_float(__lockstep_image_u32(m, 80 + 4 * (c)))

enum { KIND_UNORM, KIND_SNORM, KIND_HALF, KIND_FLOAT, KIND_SRGB, KIND_SIGNED, KIND_UNSIGNED };

#undef as_float
#undef as_uint
#define as_float(x) __builtin_astype(x, float)
#define as_uint(x) __builtin_astype(x, uint)

INL row row_at(record m, int y, int z)
{
    return PIXELS(m) + (ulong)(uint)z * SLICE_PITCH(m) + (ulong)(uint)y * (ulong)ROW_PITCH(m);
}

// --- elements -------------------------------------------------------------------------------------------------------
// EACH1(M) to EACH8(M): M(t) for each tap. One tap is a nearest element, several are mixed.
#define EACH1(M) M(0)
#define EACH2(M) M(0) M(1)
#define EACH4(M) EACH2(M) M(2) M(3)
#define EACH8(M) EACH4(M) M(4) M(5) M(6) M(7)

// The word in which each component of an element lies.
#define LOAD_1(t) w[t] = (uint4)((uint)r[t][x[t]]);
#define LOAD_2(t) w[t] = (uint4)((uint)((global const ushort *)r[t])[x[t]]);
#define LOAD_4(t) w[t] = (uint4)(((global const uint *)r[t])[x[t]]);
#define LOAD_8(t)                                                                                                      \
    {                                                                                                                  \
        uint2 e = ((global const uint2_unaligned *)r[t])[x[t]];                                                        \
        w[t] = (uint4)(e.x, two ? e.y : e.x, e.y, e.y);                                                                \
    }
#define LOAD_16(t) w[t] = ((global const uint4_unaligned *)r[t])[x[t]];
#define WORDS(N)                                                                                                       \
    INL void words##N(record m, const row *r, const int *x, uint4 *w)                                                  \
    {                                                                                                                  \
        uint two = CHANNELS(m) == 2;                                                                                   \
        switch (SIZE(m)) {                                                                                             \
        case 1: EACH##N(LOAD_1) break;                                                                                 \
        case 2: EACH##N(LOAD_2) break;                                                                                 \
        case 4: EACH##N(LOAD_4) break;                                                                                 \
        case 8: EACH##N(LOAD_8) break;                                                                                 \
        default: EACH##N(LOAD_16) break;                                                                               \
        }                                                                                                              \
    }
WORDS(1)
WORDS(2)
WORDS(4)
WORDS(8)

#define FIELD(m, e, c) ((e) << LEFT(m, c) >> RIGHT(m, c))
#define SIGNED_FIELD(m, e, c) ((int)((e) << LEFT(m, c)) >> RIGHT(m, c))
// Of an image of unsigned integers, the bits of its own: SPIR-V's integers have no sign, what they are an image tells.
#define INTEGER_FIELD(m, e, c)                                                                                         \
    (SIGNED_FIELD(m, e, c) & (KIND(m) == KIND_UNSIGNED ? (int)(0xFFFFFFFF >> RIGHT(m, c)) : -1))
#define ALL(F, m, e) F(m, (e).x, 0), F(m, (e).y, 1), F(m, (e).z, 2), F(m, (e).w, 3)

#define UNORM(m, w, c) ((float)(int)FIELD(m, w, c) * (1.0f / MOST(m, c)))
#define SNORM(m, w, c) at_least((float)SIGNED_FIELD(m, w, c) * (1.0f / MOST(m, c)), -1.0f)
#define HALF_FLOAT(m, w, c) ((float)__builtin_astype((ushort)FIELD(m, w, c), half))
#define BITS_OF_FLOAT(m, w, c) as_float(w)
#define SRGB(m, w, c) SRGB_TABLE(m)[FIELD(m, w, c)]
INL float at_least(float a, float b) { return a > b ? a : b; }
INL float at_most(float a, float b) { return a < b ? a : b; }

#define DECODE_UNORM(t) v[t] = (float4)(ALL(UNORM, m, w[t]));
#define DECODE_SNORM(t) v[t] = (float4)(ALL(SNORM, m, w[t]));
#define DECODE_HALF(t) v[t] = (float4)(ALL(HALF_FLOAT, m, w[t]));
#define DECODE_FLOAT(t) v[t] = (float4)(ALL(BITS_OF_FLOAT, m, w[t]));
#define DECODE_SRGB(t)                                                                                                 \
    v[t] = (float4)(SRGB(m, w[t].x, 0), SRGB(m, w[t].y, 1), SRGB(m, w[t].z, 2), UNORM(m, w[t].w, 3));
#define DECODE(N)                                                                                                      \
    INL void decode##N(record m, const uint4 *w, float4 *v)                                                            \
    {                                                                                                                  \
        switch (KIND(m)) {                                                                                             \
        case KIND_UNORM: EACH##N(DECODE_UNORM) break;                                                                  \
        case KIND_SNORM: EACH##N(DECODE_SNORM) break;                                                                  \
        case KIND_HALF: EACH##N(DECODE_HALF) break;                                                                    \
        case KIND_SRGB: EACH##N(DECODE_SRGB) break;                                                                    \
        default: EACH##N(DECODE_FLOAT) break;                                                                          \
        }                                                                                                              \
    }
DECODE(1)
DECODE(2)
DECODE(4)
DECODE(8)

// Components that are not stored: 0, or 1 as alpha.
#define COMPLETE(T)                                                                                                    \
    INL T##4 complete(record m, T##4 v)                                                                                \
    {                                                                                                                  \
        return (T##4)(STORED(m, 0) ? v.x : (T)0, STORED(m, 1) ? v.y : (T)0, STORED(m, 2) ? v.z : (T)0,                 \
                      STORED(m, 3) ? v.w : (T)1);                                                                      \
    }
COMPLETE(float)
COMPLETE(int)
COMPLETE(uint)

// --- coordinates ----------------------------------------------------------------------------------------------------
#define ADDRESSING(s) ((s) & 0xE)
#define IS_LINEAR(s) ((s) & CLK_FILTER_LINEAR)
// Whether a place outside reads as the border. Without an addressing mode nothing is said of such a place.
#define HAS_BORDER(s) (ADDRESSING(s) == CLK_ADDRESS_CLAMP || ADDRESSING(s) == CLK_ADDRESS_NONE)

INL int limit(int i, int size)
{
    i = i < 0 ? 0 : i;
    return i < size ? i : size - 1;
}
INL int within(int i, int size) { return (uint)i < (uint)size; }

// A coordinate in elements.
INL float unnormalized(uint s, float c, int size)
{
    float n = (float)size;
    if (ADDRESSING(s) == CLK_ADDRESS_REPEAT)
        return (c - __builtin_elementwise_floor(c)) * n;
    if (ADDRESSING(s) == CLK_ADDRESS_MIRRORED_REPEAT)
        return __builtin_elementwise_abs(c - 2.0f * __builtin_elementwise_rint(0.5f * c)) * n;
    return s & CLK_NORMALIZED_COORDS_TRUE ? c * n : c;
}

// A whole number between `least` and the size; what is no number is `least`.
INL int whole(float u, float least, int size) { return (int)at_most(at_least(u, least), (float)size); }

// The nearest element: one outside where the border is read.
INL int nearest(uint s, float c, int size)
{
    int i = whole(__builtin_elementwise_floor(unnormalized(s, c, size)), -1.0f, size);
    if (ADDRESSING(s) == CLK_ADDRESS_REPEAT)
        i = i > size - 1 ? i - size : i;
    return HAS_BORDER(s) ? i : limit(i, size);
}

// The two elements beside a coordinate; the second one's weight.
INL float beside(uint s, float c, int size, int *i)
{
    float u = unnormalized(s, c, size) - 0.5f, down = __builtin_elementwise_floor(u);
    int low = whole(down, -2.0f, size), high = low + 1;
    if (ADDRESSING(s) == CLK_ADDRESS_REPEAT) {
        low = low < 0 ? low + size : low;
        high = high > size - 1 ? high - size : high;
    }
    i[0] = HAS_BORDER(s) ? low : limit(low, size);
    i[1] = HAS_BORDER(s) ? high : limit(high, size);
    return u - down;
}

INL int place(uint s, int i, int size) { return HAS_BORDER(s) ? i : limit(i, size); }
// Whether there is an element at a place of the above: without a border, always.
INL int there(uint s, int i, int size) { return HAS_BORDER(s) ? within(i, size) : 1; }
// Arrays: the nearest layer there is.
INL int layer(record m, float c) { return limit(whole(__builtin_elementwise_rint(c), 0.0f, DEPTH(m)), DEPTH(m)); }
INL int layer(record m, int c) { return limit(c, DEPTH(m)); }

// --- reading --------------------------------------------------------------------------------------------------------
INL uint4 element(record m, int x, int y, int z)
{
    row r[1] = {row_at(m, y, z)};
    int i[1] = {x};
    uint4 w[1];
    words1(m, r, i, w);
    return w[0];
}

INL float4 read(float4 border, record m, int x, int y, int z, int inside)
{
    float4 v[1] = {border};
    if (inside) {
        uint4 w[1] = {element(m, x, y, z)};
        decode1(m, w, v);
        v[0] = complete(m, v[0]);
    }
    return v[0];
}
INL int4 read(int4 border, record m, int x, int y, int z, int inside)
{
    int4 v = border;
    if (inside) {
        uint4 w = element(m, x, y, z);
        v = complete(m, (int4)(ALL(INTEGER_FIELD, m, w)));
    }
    return v;
}
INL uint4 read(uint4 border, record m, int x, int y, int z, int inside)
{
    uint4 v = border;
    if (inside) {
        uint4 w = element(m, x, y, z);
        v = complete(m, (uint4)(ALL(FIELD, m, w)));
    }
    return v;
}

#define BORDER(T, m) ((T##4)((T)0, (T)0, (T)0, (T)BORDER_ALPHA(m)))
#define MIXED(t) v[t] = complete(m, v[t]);
#define OUTSIDE(t) v[t] = in[t] ? v[t] : border;

INL float4 mix2(float4 a, float4 b, float w) { return a * (1.0f - w) + b * w; }

INL float4 linear1(record m, uint s, float cx, int z)
{
    int x[2], in[2];
    uint4 w[2];
    float4 v[2], border = BORDER(float, m);
    float a = beside(s, cx, WIDTH(m), x);
    row r[2];
#define TAP(t)                                                                                                         \
    in[t] = within(x[t], WIDTH(m));                                                                                    \
    x[t] = limit(x[t], WIDTH(m));                                                                                      \
    r[t] = row_at(m, 0, z);
    EACH2(TAP)
#undef TAP
    words2(m, r, x, w);
    decode2(m, w, v);
    EACH2(MIXED)
    if (HAS_BORDER(s)) {
        EACH2(OUTSIDE)
    }
    return mix2(v[0], v[1], a);
}

INL float4 linear2(record m, uint s, float cx, float cy, int z)
{
    int i[2], j[2], x[4], in[4];
    uint4 w[4];
    float4 v[4], border = BORDER(float, m);
    float a = beside(s, cx, WIDTH(m), i), b = beside(s, cy, HEIGHT(m), j);
    row r[4];
#define TAP(t)                                                                                                         \
    in[t] = within(i[t & 1], WIDTH(m)) & within(j[t >> 1], HEIGHT(m));                                                 \
    x[t] = limit(i[t & 1], WIDTH(m));                                                                                  \
    r[t] = row_at(m, limit(j[t >> 1], HEIGHT(m)), z);
    EACH4(TAP)
#undef TAP
    words4(m, r, x, w);
    decode4(m, w, v);
    EACH4(MIXED)
    if (HAS_BORDER(s)) {
        EACH4(OUTSIDE)
    }
    return mix2(mix2(v[0], v[1], a), mix2(v[2], v[3], a), b);
}

INL float4 linear3(record m, uint s, float cx, float cy, float cz)
{
    int i[2], j[2], k[2], x[8], in[8];
    uint4 w[8];
    float4 v[8], border = BORDER(float, m);
    float a = beside(s, cx, WIDTH(m), i), b = beside(s, cy, HEIGHT(m), j), c = beside(s, cz, DEPTH(m), k);
    row r[8];
#define TAP(t)                                                                                                         \
    in[t] = within(i[t & 1], WIDTH(m)) & within(j[t >> 1 & 1], HEIGHT(m)) & within(k[t >> 2], DEPTH(m));               \
    x[t] = limit(i[t & 1], WIDTH(m));                                                                                  \
    r[t] = row_at(m, limit(j[t >> 1 & 1], HEIGHT(m)), limit(k[t >> 2], DEPTH(m)));
    EACH8(TAP)
#undef TAP
    words8(m, r, x, w);
    decode8(m, w, v);
    EACH8(MIXED)
    if (HAS_BORDER(s)) {
        EACH8(OUTSIDE)
    }
    float4 near = mix2(mix2(v[0], v[1], a), mix2(v[2], v[3], a), b);
    return mix2(near, mix2(mix2(v[4], v[5], a), mix2(v[6], v[7], a), b), c);
}

// The nearest element, by whole coordinates or by others.
#define NEAREST(T)                                                                                                     \
    INL T##4 nearest1(T##4 border, record m, uint s, int x, int z)                                                     \
    {                                                                                                                  \
        x = place(s, x, WIDTH(m));                                                                                     \
        return read(border, m, x, 0, z, there(s, x, WIDTH(m)));                                                        \
    }                                                                                                                  \
    INL T##4 nearest2(T##4 border, record m, uint s, int x, int y, int z)                                              \
    {                                                                                                                  \
        x = place(s, x, WIDTH(m));                                                                                     \
        y = place(s, y, HEIGHT(m));                                                                                    \
        return read(border, m, x, y, z, there(s, x, WIDTH(m)) & there(s, y, HEIGHT(m)));                               \
    }                                                                                                                  \
    INL T##4 nearest3(T##4 border, record m, uint s, int x, int y, int z)                                              \
    {                                                                                                                  \
        x = place(s, x, WIDTH(m));                                                                                     \
        y = place(s, y, HEIGHT(m));                                                                                    \
        z = place(s, z, DEPTH(m));                                                                                     \
        int inside = there(s, x, WIDTH(m)) & there(s, y, HEIGHT(m)) & there(s, z, DEPTH(m));                           \
        return read(border, m, x, y, z, inside);                                                                       \
    }
NEAREST(float)
NEAREST(int)
NEAREST(uint)

// --- writing --------------------------------------------------------------------------------------------------------
// The words that hold an element, of components in their own words.
INL void store_element(record m, row r, int x, uint4 e)
{
#define PLACED(c, v) (WRITTEN(m, c) ? (v) << RIGHT(m, c) >> LEFT(m, c) : 0)
    uint4 p = (uint4)(PLACED(0, e.x), PLACED(1, e.y), PLACED(2, e.z), PLACED(3, e.w));
    uint all = p.x | p.y | p.z | p.w;
    switch (SIZE(m)) {
    case 1: r[x] = (uchar)all; break;
    case 2: ((global ushort *)r)[x] = (ushort)all; break;
    case 4: ((global uint *)r)[x] = all; break;
    case 8: {
        uint two = CHANNELS(m) == 2;
        ((global uint2_unaligned *)r)[x] =
            (uint2_unaligned)(p.x | (two ? 0 : p.y), (two ? p.y : 0) | p.z | p.w);
        break;
    }
    default: ((global uint4_unaligned *)r)[x] = p; break;
    }
}

INL uint encode_unorm(float v, float most)
{
    return (uint)(int)__builtin_elementwise_rint(at_most(at_least(v * most, 0.0f), most));
}
INL uint encode_snorm(float v, float most)
{
    return (uint)(int)__builtin_elementwise_rint(at_most(at_least(v * most, -most - 1.0f), most));
}
INL uint encode_half(float v) { return __builtin_astype(to_half_rte(v), ushort); }
INL uint encode_signed(int v, uint right)
{
    int least = (int)0x80000000 >> right, most = ~least;
    v = v < least ? least : v;
    return (uint)(v > most ? most : v);
}
INL uint encode_unsigned(uint v, uint right)
{
    uint most = 0xFFFFFFFF >> right;
    return v > most ? most : v;
}

#define COMPONENTS(F) (uint4)(F(v.x, 0), F(v.y, 1), F(v.z, 2), F(v.w, 3))
INL void write(record m, int x, int y, int z, int inside, float4 v)
{
    if (!inside)
        return;
    uint4 e;
#define AS_UNORM(v, c) encode_unorm(v, MOST(m, c))
#define AS_SNORM(v, c) encode_snorm(v, MOST(m, c))
#define AS_HALF(v, c) encode_half(v)
    switch (KIND(m)) {
    case KIND_UNORM: e = COMPONENTS(AS_UNORM); break;
    case KIND_SNORM: e = COMPONENTS(AS_SNORM); break;
    case KIND_HALF: e = COMPONENTS(AS_HALF); break;
    default: e = __builtin_astype(v, uint4); break;
    }
    store_element(m, row_at(m, y, z), x, e);
}
INL void write(record m, int x, int y, int z, int inside, uint4 v)
{
    if (!inside)
        return;
#define AS_UNSIGNED(v, c) encode_unsigned(v, RIGHT(m, c))
    store_element(m, row_at(m, y, z), x, COMPONENTS(AS_UNSIGNED));
}
// As for what is read, an image tells what integers are.
INL void write(record m, int x, int y, int z, int inside, int4 v)
{
    if (KIND(m) == KIND_UNSIGNED) {
        write(m, x, y, z, inside, __builtin_astype(v, uint4));
        return;
    }
    if (!inside)
        return;
#define AS_SIGNED(v, c) encode_signed(v, RIGHT(m, c))
    store_element(m, row_at(m, y, z), x, COMPONENTS(AS_SIGNED));
}
#endif
