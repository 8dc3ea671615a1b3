// Branches whose two sides do nearly the same.

// The example of Coutinho et al. 2011: both sides load two values, multiply, divide and store, with other operands.
kernel void fused_paths(global const float *a, global const float *b, global float *out) {
    size_t i = get_global_id(0);
    if (a[i] < b[i]) {
        float x = a[i], y = b[i];
        float square = x * x, cube = square * x, product = cube * y;
        out[i] = product / (y + 2.0f) / 3.0f * x + square;
    } else {
        float x = b[i], y = a[i];
        float square = y * y, other = square * x, product = other * x;
        out[i] = product / (x + 2.0f) / 2.0f * y - 1.0f + square;
    }
}

// One pass of a quicksort: each group moves what is less than the pivot to the left end of its part and the rest to the
// right end. A work-item counts its values first, and the group adds up the counts so that each knows its places.
kernel void partition_groups(global const int *in, global int *out, local int *counts, int pivot, int each) {
    int l = get_local_id(0), items = get_local_size(0);
    int size = items * each, start = get_group_id(0) * size;
    int less = 0;
    for (int k = 0; k < each; ++k) less += in[start + k * items + l] < pivot;
    counts[l] = less;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int distance = 1; distance < items; distance *= 2) {
        int left = l >= distance ? counts[l - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        counts[l] += left;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    int low = start + counts[l] - less;
    int high = start + counts[items - 1] + l * each - (counts[l] - less);
    for (int k = 0; k < each; ++k) {
        int value = in[start + k * items + l];
        if (value < pivot) out[low++] = value;
        else out[high++] = value;
    }
}

// Figure 10 of the paper with what both sides load: each loads two values by itself, the other way round.
kernel void fused_loads(global const float *a, global const float *b, global const float *d, global float *out) {
    size_t i = get_global_id(0);
    if (d[i] < 0.5f) {
        float x = a[i], y = b[i];
        out[i] = x * x * x * y / (y + 2.0f) / 3.0f * x + 1.0f;
    } else {
        float x = b[i], y = a[i];
        out[i] = x * x * y * y / (x + 2.0f) / 2.0f * y - 1.0f + x;
    }
}

// The same as its figure (c) has it: one load from the address that was selected, which only gathers can do.
kernel void fused_addresses(global const float *a, global const float *b, global const float *d, global float *out) {
    size_t i = get_global_id(0);
    bool below = d[i] < 0.5f;
    global const float *p = below ? a : b, *q = below ? b : a;
    float x = p[i], y = q[i];
    float quotient = x * x * (below ? x : y) * y / ((below ? y : x) + 2.0f) / (below ? 3.0f : 2.0f) * (below ? x : y);
    out[i] = below ? quotient + 1.0f : quotient - 1.0f + x;
}

// A costly function on both sides.
kernel void fused_exp(global const float *a, global const float *b, global float *out) {
    size_t i = get_global_id(0);
    if (a[i] < b[i]) out[i] = exp(a[i]) * 2.0f;
    else out[i] = exp(b[i]) + 1.0f;
}

kernel void fused_log(global const float *a, global const float *b, global float *out) {
    size_t i = get_global_id(0);
    if (a[i] < b[i]) out[i] = log(a[i]) * 2.0f;
    else out[i] = log(b[i]) + 1.0f;
}

kernel void fused_sin(global const float *a, global const float *b, global float *out) {
    size_t i = get_global_id(0);
    if (a[i] < b[i]) out[i] = sin(a[i]) * 2.0f;
    else out[i] = sin(b[i]) + 1.0f;
}

// A loop of as many rounds on both sides.
kernel void fused_loops(global const float *a, global const float *b, global float *out, int rounds) {
    size_t i = get_global_id(0);
    float value = a[i], y = b[i];
    if (value < y) for (int k = 0; k < rounds; ++k) value = fma(value, y, 0.5f);
    else for (int k = 0; k < rounds; ++k) value = fma(value, 0.25f, y);
    out[i] = value;
}

// The paper's Figure 17 (a), a step of a bitonic sort: each side compares and exchanges.
kernel void fused_exchange(global int *keys, int distance, int block) {
    int i = get_global_id(0), other = i ^ distance;
    if (other > i) {
        if ((i & block) == 0) {
            if (keys[i] > keys[other]) {
                int key = keys[i];
                keys[i] = keys[other];
                keys[other] = key;
            }
        } else {
            if (keys[i] < keys[other]) {
                int key = keys[i];
                keys[i] = keys[other];
                keys[other] = key;
            }
        }
    }
}
