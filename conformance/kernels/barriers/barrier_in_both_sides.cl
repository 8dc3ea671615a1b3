// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Different numbers of barriers on the two sides of a branch, and one after it.
kernel void barrier_in_both_sides(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    tmp[l] = v;
    if (in[g - l] & 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        v += tmp[(l + 1) % n];
    } else {
        barrier(CLK_LOCAL_MEM_FENCE);
        int right = tmp[(l + 1) % n];
        barrier(CLK_LOCAL_MEM_FENCE);
        tmp[l] = right;
        barrier(CLK_LOCAL_MEM_FENCE);
        v -= tmp[n - 1 - l];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    tmp[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tmp[(l + 3) % n];
}
