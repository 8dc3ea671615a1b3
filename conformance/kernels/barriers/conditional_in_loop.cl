// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// A barrier in a branch in a loop, taken in every second iteration.
kernel void conditional_in_loop(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    for (int i = 0; i < 6; ++i) {
        if (i & 1) {
            tmp[l] = v;
            barrier(CLK_LOCAL_MEM_FENCE);
            v += tmp[(l + i) % n];
            barrier(CLK_LOCAL_MEM_FENCE);
        } else {
            v -= i;
        }
    }
    out[g] = v;
}
