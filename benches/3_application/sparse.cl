// A sparse matrix in compressed rows times a vector: a work-item per row.
kernel void csr_rows(global const int *starts, global const int *columns, global const float *values,
                     global const float *x, global float *y) {
    int row = get_global_id(0);
    float sum = 0.0f;
    for (int k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * x[columns[k]];
    y[row] = sum;
}

// The same with a group per row, whose work-items add up their parts in local memory.
kernel void csr_groups(global const int *starts, global const int *columns, global const float *values,
                       global const float *x, global float *y, local float *parts) {
    int row = get_group_id(0), l = get_local_id(0), items = get_local_size(0);
    float sum = 0.0f;
    for (int k = starts[row] + l; k < starts[row + 1]; k += items) sum += values[k] * x[columns[k]];
    parts[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = items / 2; half_size > 0; half_size /= 2) {
        if (l < half_size) parts[l] += parts[l + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) y[row] = parts[0];
}
