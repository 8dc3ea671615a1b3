// cl_intel_subgroups and its forms for other types: a sub-group reads and writes blocks of memory and of images. The
// elements of a row of a block are those of the lanes; the rows are the components of each lane's vector.
#include "image.h"
#include "sub_group.h"

#define COUNT_2(M) M(0, s0) M(1, s1)
#define COUNT_4(M) COUNT_2(M) M(2, s2) M(3, s3)
#define COUNT_8(M) COUNT_4(M) M(4, s4) M(5, s5) M(6, s6) M(7, s7)
#define COUNT_16(M)                                                                                                    \
    COUNT_8(M) M(8, s8) M(9, s9) M(10, sa) M(11, sb) M(12, sc) M(13, sd) M(14, se) M(15, sf)

// --- memory ---------------------------------------------------------------------------------------------------------
#define LOAD_ELEMENT(i, s) block.s = p[lane() + i * SUB_GROUP];
#define STORE_ELEMENT(i, s) p[lane() + i * SUB_GROUP] = block.s;
#define OF_SPACE(F, T, N, SPACE)                                                                                       \
    OVL T##N intel_sub_group_block_read##F##N(const SPACE T *p)                                                        \
    {                                                                                                                  \
        T##N block = 0;                                                                                                \
        COUNT_##N(LOAD_ELEMENT) return block;                                                                          \
    }                                                                                                                  \
    OVL void intel_sub_group_block_write##F##N(SPACE T *p, T##N block) { COUNT_##N(STORE_ELEMENT) }
#define ONE_OF_SPACE(F, T, SPACE)                                                                                      \
    OVL T intel_sub_group_block_read##F(const SPACE T *p) { return p[lane()]; }                                        \
    OVL void intel_sub_group_block_write##F(SPACE T *p, T block) { p[lane()] = block; }

// --- images ---------------------------------------------------------------------------------------------------------
// Coordinates are in bytes along a row, and need not be those of an element. What is read beyond an edge is what is at the
// edge; what is written there is lost. A row that is shorter than an element has none.
INL long last_byte(record m, uint bytes) { return (long)WIDTH(m) * SIZE(m) - bytes; }
INL long first_byte(int2 at, uint bytes) { return (long)at.x + lane() * bytes; }
INL long keep_between(long x, long last) { return x < 0 ? 0 : x > last ? last : x; }
INL row block_row(record m, long y) { return row_at(m, (int)keep_between(y, HEIGHT(m) - 1), 0); }
INL bool has_row(record m, long y) { return y >= 0 & y < HEIGHT(m); }

#define IMAGE_ACCESS(T)                                                                                                \
    typedef T __attribute__((aligned(1))) T##_anywhere;                                                                \
    INL T read_##T(record m, int2 at, int i)                                                                           \
    {                                                                                                                  \
        long last = last_byte(m, sizeof(T)), x = keep_between(first_byte(at, sizeof(T)), last);                        \
        return last < 0 ? 0 : *(global const T##_anywhere *)(block_row(m, (long)at.y + i) + x);                        \
    }                                                                                                                  \
    INL void write_##T(record m, int2 at, int i, T value)                                                              \
    {                                                                                                                  \
        long x = first_byte(at, sizeof(T)), y = (long)at.y + i;                                                        \
        if (x >= 0 & x <= last_byte(m, sizeof(T)) & has_row(m, y))                                                     \
            *(global T##_anywhere *)(block_row(m, y) + x) = value;                                                     \
    }
IMAGE_ACCESS(uchar)
IMAGE_ACCESS(ushort)
IMAGE_ACCESS(uint)
IMAGE_ACCESS(ulong)

#define READ_uchar(i, s) block.s = read_uchar(m, at, i);
#define READ_ushort(i, s) block.s = read_ushort(m, at, i);
#define READ_uint(i, s) block.s = read_uint(m, at, i);
#define READ_ulong(i, s) block.s = read_ulong(m, at, i);
#define WRITE_uchar(i, s) write_uchar(m, at, i, block.s);
#define WRITE_ushort(i, s) write_ushort(m, at, i, block.s);
#define WRITE_uint(i, s) write_uint(m, at, i, block.s);
#define WRITE_ulong(i, s) write_ulong(m, at, i, block.s);
#define READ(F, T, N, ACCESS)                                                                                          \
    OVL T##N intel_sub_group_block_read##F##N(ACCESS image2d_t image, int2 at)                                         \
    {                                                                                                                  \
        record m = RECORD(image);                                                                                      \
        T##N block = 0;                                                                                                \
        COUNT_##N(READ_##T) return block;                                                                              \
    }
#define WRITE(F, T, N, ACCESS)                                                                                         \
    OVL void intel_sub_group_block_write##F##N(ACCESS image2d_t image, int2 at, T##N block)                            \
    {                                                                                                                  \
        record m = RECORD(image);                                                                                      \
        COUNT_##N(WRITE_##T)                                                                                           \
    }
#define READ_ONE(F, T, ACCESS)                                                                                         \
    OVL T intel_sub_group_block_read##F(ACCESS image2d_t image, int2 at) { return read_##T(RECORD(image), at, 0); }
#define WRITE_ONE(F, T, ACCESS)                                                                                        \
    OVL void intel_sub_group_block_write##F(ACCESS image2d_t image, int2 at, T block)                                  \
    {                                                                                                                  \
        write_##T(RECORD(image), at, 0, block);                                                                        \
    }

#define BLOCKS(F, T, N)                                                                                                \
    OF_SPACE(F, T, N, global) OF_SPACE(F, T, N, local)                                                                 \
    READ(F, T, N, read_only) READ(F, T, N, read_write) WRITE(F, T, N, write_only) WRITE(F, T, N, read_write)
#define OF_TYPE(F, T)                                                                                                  \
    ONE_OF_SPACE(F, T, global) ONE_OF_SPACE(F, T, local)                                                               \
    READ_ONE(F, T, read_only) READ_ONE(F, T, read_write) WRITE_ONE(F, T, write_only) WRITE_ONE(F, T, read_write)       \
    BLOCKS(F, T, 2) BLOCKS(F, T, 4) BLOCKS(F, T, 8)
OF_TYPE(, uint)
OF_TYPE(_ui, uint)
OF_TYPE(_us, ushort)
OF_TYPE(_uc, uchar)
OF_TYPE(_ul, ulong)
BLOCKS(_us, ushort, 16)
BLOCKS(_uc, uchar, 16)
BLOCKS(_ul, ulong, 16)
