// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// An endless loop left from between its barriers.
kernel void while_true(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g], i = 0;
    while (1) {
        tmp[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (tmp[i % n] % 4 == 1 || i == 12)
            break;
        v += tmp[n - 1 - l] & 15;
        ++i;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[g] = v + (i << 16);
}
