// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Barriers with nothing between them, at both ends too.
kernel void barriers_in_a_row(global const int *in, global int *out, local int *tmp) {
    barrier(CLK_LOCAL_MEM_FENCE);
    barrier(CLK_GLOBAL_MEM_FENCE);
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    tmp[l] = in[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tmp[n - 1 - l];
    barrier(CLK_LOCAL_MEM_FENCE);
    barrier(CLK_GLOBAL_MEM_FENCE);
}
