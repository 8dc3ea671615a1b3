// One pass of a fast Fourier transform of radix two that needs no other order in the end (Stockham): `done` is how long
// the transforms are that earlier passes have made.
kernel void fourier_pass(global const float2 *in, global float2 *out, int done) {
    int i = get_global_id(0), half_size = get_global_size(0);
    int k = i & (done - 1);
    float2 a = in[i], b = in[i + half_size];
    float angle = -M_PI_F * (float)k / (float)done;
    float c = cos(angle), s = sin(angle);
    float2 turned = (float2)(c * b.x - s * b.y, c * b.y + s * b.x);
    int to = ((i - k) << 1) + k;
    out[to] = a + turned;
    out[to + done] = a - turned;
}
