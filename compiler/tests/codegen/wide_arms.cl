// Arms that few work-items enter, in which everything is twice as wide as outside.

double refine(double x)
{
    double r = x * 0.63661977236758134308 - 0.5;
    r = fma(r, r, 0.25) - x * 0.125;
    r = r * r * 0.5 + fma(x, 0.0625, 1.0);
    return fma(r, 0.75, -0.03125 * x) - fma(x, r, 2.0);
}

kernel void far(global const float *in, global float *out)
{
    size_t i = get_global_id(0);
    float x = in[i], y = x * 0.5f;
    if (fabs(x) > 3000.0f) {
        double far = refine(x) + refine(y + 1.0);
        if (fabs(x) > 1.0e6f)
            far = refine(far) - refine(far * 0.5) * 3.0;
        y = (float)far + y;
    }
    out[i] = y;
}

constant double table[8] = { 1.5, -2.25, 3.125, 0.5, 7.0, -11.0, 13.75, 0.0625 };

kernel void looked_up(global const float *in, global float *out)
{
    size_t i = get_global_id(0);
    float x = in[i];
    int k = (int)i & 7;
    uint odd = 0;
    if (x > 3000.0f) {
        double far = table[k] * x + table[7 - k];
        far = refine(far) + table[(k + 3) & 7];
        odd = (ulong)(long)clamp(refine(far), -1.0e9, 1.0e9) & 1;
        x = far > 1.0e7 || odd ? (float)far : x + 1.0f;
    }
    out[i] = odd ? -x : x;
}

kernel void of_uniform(global const float *in, global float *out)
{
    size_t i = get_global_id(0);
    float x = in[i], scale = in[0];
    bool is_far = x > 3000.0f, is_large = false;
    if (is_far) {
        double far = refine(x) * scale;
        if (scale > 1.0f)
            far += refine(far + scale);
        is_large = refine(far) > x;
        x = (float)far;
    }
    out[i] = is_large ? x + 1.0f : x;
}
