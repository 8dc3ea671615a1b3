// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// The trip count is loaded, and the same for the whole group.
kernel void loop_bound_from_memory(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int trips = in[g - l] % 5;
    int v = in[g];
    for (int i = 0; i < trips; ++i) {
        tmp[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v = tmp[(l + 1) % n] + i;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[g] = v;
}
