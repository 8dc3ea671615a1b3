// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// The scan of Hillis and Steele: every item, every step.
kernel void inclusive_scan(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    tmp[l] = v;
    for (size_t step = 1; step < n; step <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int before = l >= step ? tmp[l - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        v += before;
        tmp[l] = v;
    }
    out[g] = v;
}
