// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// A loop made of gotos, entered at two places.
kernel void goto_loop(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g], i = 0;
    if (get_group_id(0) & 1)
        goto middle;
top:
    tmp[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    v += tmp[(l + 1) % n] & 31;
    barrier(CLK_LOCAL_MEM_FENCE);
middle:
    tmp[l] = v + i;
    barrier(CLK_LOCAL_MEM_FENCE);
    v ^= tmp[n - 1 - l] & 7;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (++i < 4)
        goto top;
    out[g] = v;
}
