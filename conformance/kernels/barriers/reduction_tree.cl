// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// A sum over the group in a tree; any group size.
kernel void reduction_tree(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), g = get_global_id(0);
    tmp[l] = in[g];
    for (size_t n = get_local_size(0); n > 1;) {
        size_t half_way = (n + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < n / 2)
            tmp[l] += tmp[l + half_way];
        n = half_way;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tmp[0];
}
