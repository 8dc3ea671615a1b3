// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Barriers under conditions that the whole group voted on.
kernel void group_votes(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    tmp[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    int last = tmp[n - 1];
    int all = 1, any = 0;
    for (size_t i = 0; i < n; ++i) {
        all &= tmp[i] < 95;
        any |= tmp[i] == last - 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (all) {
        tmp[n - 1 - l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v = tmp[l];
    }
    if (any) {
        barrier(CLK_LOCAL_MEM_FENCE);
        tmp[l] = v + last;
        barrier(CLK_LOCAL_MEM_FENCE);
        v = tmp[(l + 1) % n];
    }
    out[g] = v;
}
