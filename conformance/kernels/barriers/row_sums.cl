// args: in:int[512] out:int[512] local:int[64]; global: 32 16; local: 8 4
// Rows of a two-dimensional group are summed by their first items only.
kernel void row_sums(global const int *in, global int *out, local int *tmp) {
    size_t lx = get_local_id(0), ly = get_local_id(1), nx = get_local_size(0);
    size_t g = get_global_id(1) * get_global_size(0) + get_global_id(0);
    tmp[ly * nx + lx] = in[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    if (lx == 0) {
        for (size_t i = 0; i < nx; ++i)
            sum += tmp[ly * nx + i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lx == 0)
        tmp[ly * nx] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tmp[ly * nx] - in[g];
}
