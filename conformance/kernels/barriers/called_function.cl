// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// A barrier in a called function.
int rotate_in_group(local int *tmp, int v, size_t by) {
    size_t l = get_local_id(0), n = get_local_size(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    tmp[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    return tmp[(l + by) % n];
}

kernel void called_function(global const int *in, global int *out, local int *tmp) {
    size_t g = get_global_id(0);
    int v = in[g];
    int a = rotate_in_group(tmp, v, 1);
    int b = rotate_in_group(tmp, a - v, 2);
    out[g] = a * 3 + b;
}
