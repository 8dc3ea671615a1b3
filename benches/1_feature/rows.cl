// Products of all rows of a matrix with each other, each summed up in its place: neighbours read a row apart, and what is
// written could be what is read.
kernel void row_products(global const float *a, global float *products, int rows, int length) {
    int j = get_global_id(0);
    int i = get_global_id(1);
    products[i * rows + j] = 0.0f;
    for (int k = 0; k < length; ++k) products[i * rows + j] += a[i * length + k] * a[j * length + k];
}

// Structures of four floats, read through a table of indices.
kernel void points(global const float4 *table, global const uint *indices, global float4 *out) {
    size_t i = get_global_id(0);
    float4 sum = 0.0f;
    for (int k = 0; k < 4; ++k) sum += table[indices[i + k * get_global_size(0)]];
    out[i] = sum;
}

// Sums of rows of 32 in local memory, without barriers, as for machines that run 32 work-items in lock-step.
kernel void volatile_rows(global const double *in, global double *out, local volatile double *sums, int rounds) {
    size_t t = get_local_id(0);
    size_t i = get_global_id(1) * 32 + t;
    local volatile double *row = sums + get_local_id(1) * 32;
    double a = in[i];
    for (int k = 0; k < rounds; ++k) {
        row[t] = a;
        if (t < 16) row[t] += row[t + 16];
        if (t < 8) row[t] += row[t + 8];
        if (t < 4) row[t] += row[t + 4];
        if (t < 2) row[t] += row[t + 2];
        if (t < 1) row[t] += row[t + 1];
        a = row[0] * 0.03125 + in[i];
    }
    out[i] = a;
}
