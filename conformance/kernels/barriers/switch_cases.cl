// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Barriers in the cases of a switch, with one case falling through to the next.
kernel void switch_cases(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    tmp[l] = v;
    switch (get_group_id(0) % 4) {
    case 0:
        barrier(CLK_LOCAL_MEM_FENCE);
        v += tmp[(l + 1) % n];
        break;
    case 1:
        barrier(CLK_LOCAL_MEM_FENCE);
        v -= tmp[n - 1 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
        tmp[l] = v;
    case 2:
        barrier(CLK_LOCAL_MEM_FENCE);
        v *= 1 + (tmp[(l + 2) % n] & 3);
        break;
    default:
        v = -v;
    }
    out[g] = v;
}
