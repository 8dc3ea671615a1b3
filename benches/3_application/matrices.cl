// C = A B, a work-item per element, as it is first written down.
kernel void sgemm(global const float *a, global const float *b, global float *c, int columns, int inner) {
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < inner; ++k) sum += a[row * inner + k] * b[k * columns + column];
    c[row * columns + column] = sum;
}

// One sweep of Jacobi's method for Laplace's equation on a square grid. The border stays as it is.
kernel void jacobi(global const float *old, global float *grid, int width, int height) {
    int x = get_global_id(0), y = get_global_id(1), at = y * width + x;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1)
        grid[at] = 0.25f * (old[at - 1] + old[at + 1] + old[at - width] + old[at + width]);
    else
        grid[at] = old[at];
}
