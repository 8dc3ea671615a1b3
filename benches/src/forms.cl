kernel void f(global const float *x, global const float *y, global float *out, float by_a, float by_b)
{
    size_t i = get_global_id(0);
    float a0 = x[i], a1 = a0 + by_a, b0 = y[i], b1 = b0 + by_b;
    float sum0 = 0, sum1 = 0;
    by_a *= 2, by_b *= 2;
    for (int k = 0; k < 8; ++k) {
        sum0 += CALL(a0, b0), sum1 += CALL(a1, b1);
        a0 += by_a, a1 += by_a, b0 += by_b, b1 += by_b;
    }
    out[i] = sum0 + sum1;
}
