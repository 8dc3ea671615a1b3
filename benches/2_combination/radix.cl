// One pass of a radix sort by four bits. Each work-item has `each` values that lie together, so that the order of equal
// digits stays.
kernel void radix_count(global const uint *keys, global uint *counts, int each, int shift) {
    int i = get_global_id(0), items = get_global_size(0);
    uint mine[16];
    for (int digit = 0; digit < 16; ++digit) mine[digit] = 0;
    for (int k = 0; k < each; ++k) ++mine[keys[i * each + k] >> shift & 15];
    for (int digit = 0; digit < 16; ++digit) counts[digit * items + i] = mine[digit];
}

// Turns counts into places, in one group.
kernel void radix_places(global uint *counts, local uint *sums, int each) {
    int l = get_local_id(0), items = get_local_size(0);
    uint mine = 0;
    for (int k = 0; k < each; ++k) mine += counts[l * each + k];
    sums[l] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int distance = 1; distance < items; distance *= 2) {
        uint left = l >= distance ? sums[l - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[l] += left;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint place = sums[l] - mine;
    for (int k = 0; k < each; ++k) {
        uint count = counts[l * each + k];
        counts[l * each + k] = place;
        place += count;
    }
}

kernel void radix_move(global const uint *keys, global uint *sorted, global const uint *places, int each, int shift) {
    int i = get_global_id(0), items = get_global_size(0);
    uint mine[16];
    for (int digit = 0; digit < 16; ++digit) mine[digit] = places[digit * items + i];
    for (int k = 0; k < each; ++k) {
        uint key = keys[i * each + k];
        sorted[mine[key >> shift & 15]++] = key;
    }
}
