// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Vectors of two, three, four and sixteen elements are live across barriers.
kernel void live_vectors(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g];
    int2 two = (int2)(v, v + 1);
    float3 three = (float3)(v * 0.5f, v * 0.25f, 4.0f);
    int4 four = (int4)(v, 2 * v, 3 * v, 4 * v);
    short16 sixteen = (short16)((short)v) * (short16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    tmp[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    int right = tmp[(l + 1) % n];
    four.y += right;
    two = two.yx;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = two.x * 3 + two.y + (int)(three.x * 4.0f + three.y * 8.0f + three.z) + four.x + four.y + four.z + four.w
             + sixteen.s7 + sixteen.sf;
}
