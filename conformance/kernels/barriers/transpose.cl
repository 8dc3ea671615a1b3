// args: in:int[1024] out:int[1024] local:int[272]; global: 32 32; local: 16 16
// A transpose by tiles: two-dimensional groups, rows padded by one element.
kernel void transpose(global const int *in, global int *out, local int *tile) {
    size_t x = get_global_id(0), y = get_global_id(1), width = get_global_size(0), height = get_global_size(1);
    size_t lx = get_local_id(0), ly = get_local_id(1), nx = get_local_size(0), ny = get_local_size(1);
    tile[ly * (nx + 1) + lx] = in[y * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    size_t flat = ly * nx + lx, column = flat / ny, row = flat % ny;
    out[(get_group_id(0) * nx + column) * height + get_group_id(1) * ny + row] = tile[row * (nx + 1) + column];
}
