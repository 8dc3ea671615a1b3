// args: in:float[1024] in:float[1024] out:float[1024]; global: 32 32; local: 8 8
// A product of 32x32 matrices by 8x8 tiles in static local memory.
kernel void matrix_multiply(global const float *a, global const float *b, global float *c) {
    local float left[8][8], right[8][8];
    int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
    float sum = 0.0f;
    for (int tile = 0; tile < 32; tile += 8) {
        left[ly][lx] = a[y * 32 + tile + lx];
        right[ly][lx] = b[(tile + ly) * 32 + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 8; ++k)
            sum += left[ly][k] * right[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * 32 + x] = sum;
}
