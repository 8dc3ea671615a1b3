// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// The same step written out six times.
#define STEP(k)                                                                                                        \
    tmp[l] = v;                                                                                                        \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                      \
    v += tmp[(l + k) % n] * (k + 1);                                                                                   \
    barrier(CLK_LOCAL_MEM_FENCE);

kernel void unrolled_sequence(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6)
    out[g] = v;
}
