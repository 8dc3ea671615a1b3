// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Bitonic sort of 64 elements whatever the group's size; the rest is filled with the largest int.
kernel void bitonic_sort(global const int *in, global int *out, local int *tmp) {
    uint l = get_local_id(0), n = get_local_size(0);
    size_t g = get_global_id(0);
    for (uint i = l; i < 64; i += n)
        tmp[i] = i < n ? in[g - l + i] : INT_MAX;
    for (uint size = 2; size <= 64; size <<= 1) {
        for (uint step = size >> 1; step > 0; step >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = l; i < 64; i += n) {
                uint other = i ^ step;
                if (other > i) {
                    bool up = (i & size) == 0;
                    int a = tmp[i], b = tmp[other];
                    if ((a > b) == up) {
                        tmp[i] = b;
                        tmp[other] = a;
                    }
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tmp[l];
}
