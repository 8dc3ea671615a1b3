// Sweeps over a grid whose points have eight or 24 neighbours.

// Jacobi's method: from one grid to another.
kernel void jacobi9(global const float *old, global float *grid, int width) {
    int x = get_global_id(0) + 1, y = get_global_id(1) + 1;
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) sum += old[(y + dy) * width + x + dx];
    grid[y * width + x] = sum * (1.0f / 9.0f);
}

// Seidel's method in place: the points of one colour, no two of which are neighbours.
kernel void seidel9(global float *grid, int width, int first_x, int first_y) {
    int x = 1 + first_x + 2 * get_global_id(0), y = 1 + first_y + 2 * get_global_id(1);
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) sum += grid[(y + dy) * width + x + dx];
    grid[y * width + x] = sum * (1.0f / 9.0f);
}

kernel void seidel25(global float *grid, int width, int first_x, int first_y) {
    int x = 2 + first_x + 3 * get_global_id(0), y = 2 + first_y + 3 * get_global_id(1);
    float sum = 0.0f;
    for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx) sum += grid[(y + dy) * width + x + dx];
    grid[y * width + x] = sum * (1.0f / 25.0f);
}
