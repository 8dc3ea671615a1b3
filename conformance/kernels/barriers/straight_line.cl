// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// One barrier between a write to local memory and a read of another item's element.
kernel void straight_line(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    tmp[l] = in[g] * 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tmp[n - 1 - l];
}
