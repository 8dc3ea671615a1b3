// args: in:int[256] out:int[256] local:int[128]; global: 256; local: 64
// Two pointers to local memory change places in every round.
kernel void ping_pong(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    local int *from = tmp, *to = tmp + 64;
    from[l] = in[g];
    for (int i = 0; i < 5; ++i) {
        barrier(CLK_LOCAL_MEM_FENCE);
        to[l] = from[l] + from[(l + i) % n];
        local int *t = from;
        from = to;
        to = t;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = from[n - 1 - l];
}
