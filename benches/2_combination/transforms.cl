// The discrete cosine transform of 8 x 8 blocks, forward or back: each work-item makes one element of the product
// A X A' (or A' X A), with the half-finished product in local memory.
kernel void dct(global const float *in, global float *out, constant float *basis, local float *half_done, int width,
                int inverse) {
    int column = get_local_id(0), row = get_local_id(1);
    int block = get_group_id(1) * 8 * width + get_group_id(0) * 8;
    float sum = 0.0f;
    for (int k = 0; k < 8; ++k) {
        int at = inverse ? k * 8 + row : row * 8 + k;
        sum += basis[at] * in[block + k * width + column];
    }
    half_done[row * 8 + column] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = 0.0f;
    for (int k = 0; k < 8; ++k) {
        int at = inverse ? k * 8 + column : column * 8 + k;
        sum += half_done[row * 8 + k] * basis[at];
    }
    out[block + row * width + column] = sum;
}

// One pass of the fast Walsh transform: a butterfly per work-item.
kernel void walsh_pass(global float *data, uint step) {
    uint i = get_global_id(0);
    uint first = i % step + 2 * step * (i / step);
    float a = data[first], b = data[first + step];
    data[first] = a + b;
    data[first + step] = a - b;
}

// Transposes by tiles of 16 x 16 in local memory, so that reads and writes both go along rows.
kernel void transpose(global const float *in, global float *out, local float *tile, uint width, uint height) {
    uint x = get_local_id(0), y = get_local_id(1);
    tile[y * 16 + x] = in[get_global_id(1) * width + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(get_group_id(0) * 16 + y) * height + get_group_id(1) * 16 + x] = tile[x * 16 + y];
}

// Transposes as it is first written down: reads along rows and writes along columns.
kernel void naive_transpose(global const float *in, global float *out, uint width, uint height) {
    uint x = get_global_id(0), y = get_global_id(1);
    out[x * height + y] = in[y * width + x];
}
