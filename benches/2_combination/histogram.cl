// A histogram with 256 bins: each work-item counts into bins of its own in local memory, and the group adds them up.
// The host adds up the groups.
kernel void histogram(global const uint *values, local uchar *bins, global uint *counts, uint each) {
    size_t l = get_local_id(0), items = get_local_size(0);
    for (int bin = 0; bin < 256; ++bin) bins[bin * items + l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    size_t first = get_group_id(0) * items * each;
    for (uint k = 0; k < each; ++k) {
        uint value = values[first + k * items + l];
        bins[value * items + l]++;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t bin = l; bin < 256; bin += items) {
        uint sum = 0;
        for (size_t k = 0; k < items; ++k) sum += bins[bin * items + k];
        counts[get_group_id(0) * 256 + bin] = sum;
    }
}

// The same with one set of bins for the group, into which all its work-items count.
kernel void histogram_atomic(global const uint *values, local uint *bins, global uint *counts, uint each) {
    size_t l = get_local_id(0), items = get_local_size(0);
    for (size_t bin = l; bin < 256; bin += items) bins[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    size_t first = get_group_id(0) * items * each;
    for (uint k = 0; k < each; ++k) atomic_inc(&bins[values[first + k * items + l]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t bin = l; bin < 256; bin += items) counts[get_group_id(0) * 256 + bin] = bins[bin];
}
