// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// The scan of Blelloch: up the tree and down again, over 64 elements whatever the group's size.
kernel void exclusive_scan(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    for (size_t i = l; i < 64; i += n)
        tmp[i] = i < n ? in[g - l + i] : 0;
    for (int step = 1; step < 64; step <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (size_t i = l; i < 32 / step; i += n)
            tmp[(2 * i + 2) * step - 1] += tmp[(2 * i + 1) * step - 1];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        tmp[63] = 0;
    for (int step = 32; step >= 1; step >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (size_t i = l; i < 32 / step; i += n) {
            int left = tmp[(2 * i + 1) * step - 1];
            tmp[(2 * i + 1) * step - 1] = tmp[(2 * i + 2) * step - 1];
            tmp[(2 * i + 2) * step - 1] += left;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tmp[l];
}
