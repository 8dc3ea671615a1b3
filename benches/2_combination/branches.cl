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
