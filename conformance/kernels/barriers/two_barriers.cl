// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// A value computed before the first barrier is used after the second.
kernel void two_barriers(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int own = in[g];
    tmp[l] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    int right = tmp[(l + 1) % n];
    barrier(CLK_LOCAL_MEM_FENCE);
    tmp[l] = own - right;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tmp[(l + n - 1) % n] + 3 * own;
}
