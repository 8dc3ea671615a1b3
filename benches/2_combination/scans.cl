// The running sums of each group's values: in step after step each work-item adds the value twice as far to its left
// (Hillis & Steele).
kernel void scan_groups(global const uint *in, global uint *out, local uint *sums) {
    size_t i = get_global_id(0), l = get_local_id(0), items = get_local_size(0);
    sums[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t distance = 1; distance < items; distance *= 2) {
        uint left = l >= distance ? sums[l - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[l] += left;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = sums[l];
}
