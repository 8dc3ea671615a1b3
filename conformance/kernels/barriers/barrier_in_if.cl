// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// A barrier on one side of a branch that the whole group takes or not.
kernel void barrier_in_if(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    if (get_group_id(0) & 1) {
        tmp[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v = tmp[n - 1 - l];
    }
    out[g] = v + 1;
}
