// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Atomics on local memory, cleared and read in other phases.
kernel void histogram(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), g = get_global_id(0), n = get_local_size(0);
    for (size_t i = l; i < 16; i += n)
        tmp[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&tmp[in[g] & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tmp[in[g] & 15] * 100 + tmp[l & 15];
}
