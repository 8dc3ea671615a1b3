// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Branches that items take differently, between barriers and across none.
kernel void divergent_between(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    if (v & 1)
        tmp[l] = v * 3;
    else if (v & 2)
        tmp[l] = v - 50;
    else
        tmp[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    int w = tmp[(l + 1) % n];
    if (w > 60) {
        int u = tmp[n - 1 - l];
        v = u > w ? u - w : v + u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l % 3 == 0)
        tmp[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tmp[l - l % 3] + v;
}
