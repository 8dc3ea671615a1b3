// Work-items walk to a fixed point, each in a number of steps of its own.
kernel void uneven_walks(global const int *steps, global const float *from, global float *to) {
    int i = get_global_id(0), count = steps[i];
    float x = from[i];
    for (int k = 0; k < count; ++k) x = x * 0.7f + sqrt(fabs(x)) * 0.3f + 0.01f / (1.0f + x * x);
    to[i] = x;
}
