// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// A private array, indexed by values known only at run time, is live across barriers in a loop.
kernel void live_private_array(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int a[8];
    for (int i = 0; i < 8; ++i)
        a[i] = in[g] + i;
    for (int i = 0; i < 5; ++i) {
        tmp[l] = a[(l + i) & 7];
        barrier(CLK_LOCAL_MEM_FENCE);
        a[(tmp[(l + 1) % n] + i) & 7] += i + 1;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    int sum = 0;
    for (int i = 0; i < 8; ++i)
        sum += a[i] * (i + 1);
    out[g] = sum;
}
