// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// `continue` jumps over a barrier in some iterations.
kernel void loop_continue(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    for (int i = 0; i < 9; ++i) {
        tmp[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        int pick = tmp[i % n];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (pick & 1) {
            v += 5;
            continue;
        }
        tmp[n - 1 - l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v = tmp[l] + 1;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[g] = v;
}
