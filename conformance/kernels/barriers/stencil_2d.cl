// args: in:float[576] out:float[576] local:float[100] int:3; global: 24 24; local: 8 8
// A blur over a tile with a border, as many rounds as an argument says; values outside are zero.
kernel void stencil_2d(global const float *in, global float *out, local float *tile, int rounds) {
    int x = get_global_id(0), y = get_global_id(1), width = get_global_size(0), height = get_global_size(1);
    int lx = get_local_id(0), ly = get_local_id(1), nx = get_local_size(0), ny = get_local_size(1);
    int pitch = nx + 2;
    int left = get_group_id(0) * get_enqueued_local_size(0) - 1, top = get_group_id(1) * get_enqueued_local_size(1) - 1;
    for (int i = ly * nx + lx; i < pitch * (ny + 2); i += nx * ny) {
        int sx = left + i % pitch, sy = top + i / pitch;
        tile[i] = sx >= 0 && sy >= 0 && sx < width && sy < height ? in[sy * width + sx] : 0.0f;
    }
    float v = 0.0f;
    for (int round = 0; round < rounds; ++round) {
        barrier(CLK_LOCAL_MEM_FENCE);
        local float *at = tile + (ly + 1) * pitch + lx + 1;
        v = at[0] + at[-1] + at[1] + at[-pitch] + at[pitch];
        barrier(CLK_LOCAL_MEM_FENCE);
        *at = v;
    }
    out[y * width + x] = v;
}
