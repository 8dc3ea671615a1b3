// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// A single local variable, written by one item and read by all, round after round.
kernel void local_variable(global const int *in, global int *out, local int *tmp) {
    local int shared;
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    for (size_t i = 0; i < 4; ++i) {
        if (l == i % n)
            shared = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v += shared & 63;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[g] = v;
}
