// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// The whole group returns from the middle of a loop, between two barriers.
kernel void loop_return(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    for (int i = 0; i < 6; ++i) {
        tmp[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        int sum = tmp[0] + tmp[n - 1];
        if (sum % 5 == 0) {
            out[g] = -v;
            return;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        v += sum % 11;
    }
    out[g] = v;
}
