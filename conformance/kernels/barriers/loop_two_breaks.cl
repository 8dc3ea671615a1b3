// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// A loop with three exits: two breaks at different distances from the barriers, and the condition.
kernel void loop_two_breaks(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    int i;
    for (i = 0; i < 10; ++i) {
        tmp[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        int first = tmp[0], last = tmp[n - 1];
        if (first > 150)
            break;
        v += last % 17;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (last % 7 == 3)
            break;
        v += i;
    }
    out[g] = v * 16 + i;
}
