// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// A divergent inner loop inside an outer loop with barriers.
kernel void divergent_inside_uniform_loop(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    for (int round = 0; round < 3; ++round) {
        int count = (v + round) % 5;
        for (int i = 0; i < count; ++i)
            v += i;
        tmp[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v = (tmp[(l + 1) % n] + v) & 0xffff;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[g] = v;
}
