// Branch-free arithmetic on values that stay in registers.

// A polynomial of degree 31 by Horner's rule.
kernel void horner(global const float *in, global float *out, constant float *coefficients) {
    size_t i = get_global_id(0);
    float x = in[i], sum = coefficients[31];
    for (int k = 30; k >= 0; --k) sum = sum * x + coefficients[k];
    out[i] = sum;
}

kernel void horner_double(global const double *in, global double *out, constant double *coefficients) {
    size_t i = get_global_id(0);
    double x = in[i], sum = coefficients[31];
    for (int k = 30; k >= 0; --k) sum = sum * x + coefficients[k];
    out[i] = sum;
}

// The logistic map: each step waits for the one before.
kernel void logistic(global const float *in, global float *out, float rate, int steps) {
    size_t i = get_global_id(0);
    float x = in[i];
    for (int k = 0; k < steps; ++k) x = rate * x * (1.0f - x);
    out[i] = x;
}

// Mixes the bits of a word, four rounds of shift, xor and multiply.
kernel void mix(global const uint *in, global uint *out, int rounds) {
    size_t i = get_global_id(0);
    uint x = in[i];
    for (int k = 0; k < rounds; ++k) {
        x ^= x >> 15;
        x *= 0x2c1b3c6du;
        x ^= x << 7;
        x += (uint)k;
    }
    out[i] = x;
}
