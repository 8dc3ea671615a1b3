// args: in:float[256] out:float[256] local:float[64]; global: 256; local: 64
// Floats and a vector of floats are live across barriers in a loop.
kernel void live_floats(global const float *in, global float *out, local float *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    float v = in[g], scale = l & 1 ? 0.5f : 2.0f;
    float4 last = (float4)(0.0f);
    for (int i = 0; i < 4; ++i) {
        tmp[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        last = (float4)(last.yzw, v);
        v = tmp[(l + 1) % n] * scale;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[g] = last.x + 2.0f * last.y + 4.0f * last.z + 8.0f * last.w + v;
}
