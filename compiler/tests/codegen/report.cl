float twice(float x) {
    return 2 * x;
}

kernel void some_of_everything(global const float *in, global float *out, global const float4 *points,
                               constant float *table, global int *counter, global int *bins,
                               global volatile int *flag, local float *tmp, int n) {
    size_t i = get_global_id(0);
    float a = in[i];
    float b = in[(long)n - (long)i];
    float4 p = points[i];
    float c = table[n];
    float d = in[bins[i]];
    out[i] = a + b;
    if (n > 3)
        out[2 * i] = c;
    if (d > c) {
        out[3 * i + 1] = p.x + twice(p.y);
        out[bins[i]] = log(p.z);
    }
    for (int k = 0; k < n; k++)
        a += table[k] * b;
    while (a > d)
        a = a * 0.5f - 1.0f;
    tmp[get_local_id(0)] = a;
    barrier(CLK_LOCAL_MEM_FENCE);
    float other = tmp[get_local_size(0) - 1 - get_local_id(0)];
    if (other > 0) {
        int place = atomic_inc(counter);
        atomic_add(counter + 1, bins[place]);
    }
    atomic_or(&bins[i % 7], 2);
    atomic_xchg(counter + 2, n);
    flag[i] = n;
    switch (n) {
    case 1:
        out[0] = other;
        break;
    case 9:
        out[1] = tgamma(other);
        break;
    }
    float own[64];
    for (int k = 0; k < 64; k++)
        own[k] = in[i + k];
    out[i] += own[bins[i] & 7];
    if (a < 0)
        printf("%d\n", n);
}
