// Kernels that are about how memory is read and written.

kernel void saxpy(global const float *x, global float *y, float a) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}

// The three streams of McCalpin's STREAM benchmark.
kernel void triad(global const float *b, global const float *c, global float *a, float factor) {
    size_t i = get_global_id(0);
    a[i] = b[i] + factor * c[i];
}

// Finite impulse response: 32 taps over a window that moves by one element per work-item.
kernel void fir(global const float *in, global float *out, constant float *taps) {
    size_t i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 32; ++k) sum += taps[k] * in[i + k];
    out[i] = sum;
}

// A 5 x 5 window over an image with a border of two.
kernel void convolution(global const float *in, global float *out, constant float *weights, int pitch) {
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int row = 0; row < 5; ++row)
        for (int column = 0; column < 5; ++column)
            sum += weights[row * 5 + column] * in[(y + row) * pitch + x + column];
    out[y * (pitch - 4) + x] = sum;
}

typedef struct { float red, green, blue; } Pixel;

// Neighbouring work-items read and write three floats that lie together.
kernel void luminance(global const Pixel *in, global Pixel *out, float amount) {
    size_t i = get_global_id(0);
    Pixel p = in[i];
    float grey = 0.2126f * p.red + 0.7152f * p.green + 0.0722f * p.blue;
    p.red += amount * (grey - p.red);
    p.green += amount * (grey - p.green);
    p.blue += amount * (grey - p.blue);
    out[i] = p;
}

// Bytes, computed in 16 bits.
kernel void blend(global const uchar *a, global const uchar *b, global uchar *out, uchar weight) {
    size_t i = get_global_id(0);
    ushort sum = (ushort)(a[i] * weight + b[i] * (255 - weight) + 127);
    out[i] = (uchar)((sum + (sum >> 8) + 1) >> 8);
}

// Reads through a table of indices.
kernel void gather(global const float *table, global const uint *indices, global float *out) {
    size_t i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 8; ++k) sum += table[indices[i + k * get_global_size(0)]];
    out[i] = sum;
}

// The sum of a group's values by halving in local memory.
kernel void reduce(global const float *in, global float *sums, local float *partial) {
    size_t l = get_local_id(0);
    partial[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (l < half_size) partial[l] += partial[l + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) sums[get_group_id(0)] = partial[0];
}
