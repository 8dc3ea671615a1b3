// args: in:int[512] out:int[512] local:int[64]; global: 8 8 8; local: 4 2 8
// Three-dimensional groups reverse themselves along all three axes.
kernel void group_3d(global const int *in, global int *out, local int *tmp) {
    size_t x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
    size_t nx = get_local_size(0), ny = get_local_size(1), nz = get_local_size(2);
    size_t g = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
    tmp[(z * ny + y) * nx + x] = in[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tmp[((nz - 1 - z) * ny + ny - 1 - y) * nx + nx - 1 - x];
}
