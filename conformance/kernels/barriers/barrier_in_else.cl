// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// A barrier on the other side only.
kernel void barrier_in_else(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    if (get_group_id(0) % 3 == 0) {
        v *= 3;
    } else {
        tmp[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v += tmp[(l + 2) % n];
    }
    out[g] = v;
}
