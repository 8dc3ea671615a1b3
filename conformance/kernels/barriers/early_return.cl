// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// The whole group returns before the barrier, or none of it.
kernel void early_return(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    if (get_group_id(0) == 1) {
        out[g] = -1;
        return;
    }
    tmp[l] = in[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tmp[(l * 3 + 1) % n];
}
