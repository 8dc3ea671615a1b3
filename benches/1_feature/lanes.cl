// Kernels whose lanes agree most of the time, but not always.

// A sparse matrix times a vector. Rows are as long as they are; their n-th elements lie side by side.
kernel void sparse_rows(global const int *lengths, global const float *values, global const int *columns,
                        global const float *x, global float *y, int rows) {
    int row = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < lengths[row]; ++k)
        sum += values[k * rows + row] * x[columns[k * rows + row]];
    y[row] = sum;
}

// Hashes of texts, whose n-th characters lie side by side.
kernel void hash_texts(global const uchar *texts, global uint *hashes, int count) {
    int i = get_global_id(0);
    uint hash = 2166136261u;
    for (int k = i; texts[k] != 0; k += count)
        hash = (hash ^ texts[k]) * 16777619u;
    hashes[i] = hash;
}

// The steps of Newton's method for a square root, each kept, until they end.
kernel void newton_steps(global const float *squares, global float *steps, global int *lengths, int count) {
    int i = get_global_id(0);
    float square = squares[i], x = square;
    int k = 0;
    do {
        steps[k * count + i] = x;
        float next = 0.5f * (x + square / x);
        if (fabs(next - x) <= 1e-6f * x) break;
        x = next;
        ++k;
    } while (k < 32);
    lengths[i] = k;
}

// More work-items than elements: who has none does nothing.
kernel void guarded_sums(global const float *in, global const float *weights, global float *out, int count, int taps) {
    int i = get_global_id(0);
    if (i >= count) return;
    float sum = 0.0f;
    for (int k = 0; k < taps; ++k)
        sum += weights[k] * in[k * count + i];
    out[i] = sum;
}

// The same on an image of bytes: what is at the edge stays as it is.
kernel void guarded_bytes(global const uchar *in, global uchar *out, int width, int height) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        global const uchar *at = in + y * width + x;
        int sum = at[-width - 1] + 2 * at[-width] + at[-width + 1] + 2 * at[-1] + 4 * at[0] + 2 * at[1] + at[width - 1] +
                  2 * at[width] + at[width + 1];
        out[y * width + x] = sum / 16;
    }
}

// A histogram of bytes that all work-items count in one place.
kernel void byte_histogram(global const uchar *bytes, global uint *counts) {
    atomic_inc(&counts[bytes[get_global_id(0)]]);
}

// Sums of rows by 32 work-items each, whose parts are in volatile local memory.
#define VOLATILE_SUMS(NAME, NUMBER)                                                                                     \
    kernel void NAME(global const NUMBER *values, local volatile NUMBER *parts, global NUMBER *sums, int columns) {     \
        int l = get_local_id(0), row = get_global_id(1);                                                                \
        local volatile NUMBER *own = parts + get_local_id(1) * 32;                                                      \
        NUMBER sum = 0;                                                                                                 \
        for (int column = l; column < columns; column += 32) sum += values[row * columns + column];                    \
        own[l] = sum;                                                                                                   \
        for (int half_row = 16; half_row > 0; half_row /= 2) {                                                          \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                               \
            if (l < half_row) own[l] += own[l + half_row];                                                              \
        }                                                                                                               \
        if (l == 0) sums[row] = own[0];                                                                                 \
    }

VOLATILE_SUMS(volatile_sums, float)
VOLATILE_SUMS(volatile_sums_double, double)
