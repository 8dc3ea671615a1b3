// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Pointers into a private array, one chosen per item, are live across a barrier.
kernel void live_private_pointer(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int a[4] = {1, 2, 3, 4};
    int b[4] = {10, 20, 30, 40};
    int v = in[g];
    int *p = v & 1 ? &a[v & 3] : &b[l & 3];
    tmp[l] = *p;
    barrier(CLK_LOCAL_MEM_FENCE);
    *p += tmp[(l + 1) % n];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = a[0] + a[1] * 2 + a[2] * 3 + a[3] * 4 + b[0] + b[1] * 2 + b[2] * 3 + b[3] * 4;
}
