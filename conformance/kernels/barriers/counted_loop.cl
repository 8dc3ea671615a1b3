// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Two barriers in a loop with a constant trip count.
kernel void counted_loop(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    for (int i = 1; i <= 8; ++i) {
        tmp[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v += tmp[(l + i) % n] & 0xff;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[g] = v;
}
