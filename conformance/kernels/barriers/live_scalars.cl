// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Scalars of every width are live across two barriers.
kernel void live_scalars(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    char c = (char)(v * 3);
    uchar uc = (uchar)(v * 5);
    short s = (short)(v * 777);
    ushort us = (ushort)(v * 999);
    long w = (long)v << 33;
    float f = v * 0.5f;
    bool odd = v & 1;
    tmp[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    int right = tmp[(l + 1) % n];
    w += right;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = c + uc + s + us + (int)(w >> 32) + (int)w + (int)(f * 2.0f) + (odd ? 1000 : 0) + right;
}
