// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// The inner loop's trip count is the outer loop's variable; only the inner loop has a barrier.
kernel void triangular_loops(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < i; ++j) {
            tmp[(l + j) % n] = v;
            barrier(CLK_LOCAL_MEM_FENCE);
            v = tmp[l] + i * j;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        v ^= i;
    }
    out[g] = v;
}
