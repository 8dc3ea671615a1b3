// C = A B, a work-item per element, as it is first written down.
kernel void sgemm(global const float *a, global const float *b, global float *c, int columns, int inner) {
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < inner; ++k) sum += a[row * inner + k] * b[k * columns + column];
    c[row * columns + column] = sum;
}

// The same for square matrices by tiles of 16 x 16 in local memory, so that each element is read 16 times less often.
kernel void sgemm_tiled(global const float *a, global const float *b, global float *c, int size) {
    local float a_tile[16][16], b_tile[16][16];
    int x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int first = 0; first < size; first += 16) {
        a_tile[y][x] = a[row * size + first + x];
        b_tile[y][x] = b[(first + y) * size + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; ++k) sum += a_tile[y][k] * b_tile[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * size + column] = sum;
}

// One sweep of Jacobi's method for Laplace's equation on a square grid. The border stays as it is.
kernel void jacobi(global const float *old, global float *grid, int width, int height) {
    int x = get_global_id(0), y = get_global_id(1), at = y * width + x;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1)
        grid[at] = 0.25f * (old[at - 1] + old[at + 1] + old[at - width] + old[at + width]);
    else
        grid[at] = old[at];
}

// The covariances of a table's columns, a work-item a column: the sums are stored in every iteration, and nothing says that
// they are not what is read.
kernel void covariance(global float *sums, global float *table, int columns, int rows) {
    int a = get_global_id(0);
    if (a >= columns) return;
    for (int b = a; b < columns; ++b) {
        sums[a * columns + b] = 0.0f;
        for (int i = 0; i < rows; ++i) sums[a * columns + b] += table[i * columns + a] * table[i * columns + b];
        sums[b * columns + a] = sums[a * columns + b];
    }
}

// What each row has more than it should, of a table whose rows are work-items along x.
kernel void subtract_columns(global float *table, global const float *part, int size) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < size - 1 && y < size) table[size * x + y] -= part[y];
}

// The product of square matrices of doubles, a work-item a tile of 16 x 16 in an array of its own.
kernel void private_tiles(global const double *a, global const double *b, global double *c, int size) {
    int column = 16 * get_global_id(0), row = 16 * get_global_id(1);
    double tile[16][16] = {{0.0}};
    for (int k = 0; k < size; ++k)
        for (int y = 0; y < 16; ++y)
            for (int x = 0; x < 16; ++x) tile[y][x] += a[(row + y) * size + k] * b[k * size + column + x];
    for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x) c[(row + y) * size + column + x] = tile[y][x];
}

// The same where tiles of the factors are copied to arrays as well.
kernel void private_factors(global const double *a, global const double *b, global double *c, int size) {
    int column = 16 * get_global_id(0), row = 16 * get_global_id(1);
    double tile[16][16] = {{0.0}}, a_tile[16][16], b_tile[16][16];
    for (int first = 0; first < size; first += 16) {
        for (int y = 0; y < 16; ++y)
            for (int x = 0; x < 16; ++x) {
                a_tile[y][x] = a[(row + y) * size + first + x];
                b_tile[y][x] = b[(first + y) * size + column + x];
            }
        for (int y = 0; y < 16; ++y)
            for (int x = 0; x < 16; ++x)
                for (int k = 0; k < 16; ++k) tile[y][x] += a_tile[y][k] * b_tile[k][x];
    }
    for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x) c[(row + y) * size + column + x] = tile[y][x];
}
