// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Items exchange values through global memory.
kernel void global_fence(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    out[g] = in[g] + 7;
    barrier(CLK_GLOBAL_MEM_FENCE);
    int other = out[g - l + (l + 1) % n];
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[g] = other * 2;
}
