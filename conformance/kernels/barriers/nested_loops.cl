// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Odd-even transposition sort: barriers in the inner and the outer loop.
kernel void nested_loops(global const int *in, global int *out, local int *tmp) {
    int l = get_local_id(0), n = get_local_size(0);
    size_t g = get_global_id(0);
    tmp[l] = in[g];
    for (int round = 0; round < (n + 1) / 2; ++round) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int odd = 0; odd < 2; ++odd) {
            int low = 2 * l + odd;
            if (low + 1 < n && tmp[low] > tmp[low + 1]) {
                int t = tmp[low];
                tmp[low] = tmp[low + 1];
                tmp[low + 1] = t;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tmp[l];
}
