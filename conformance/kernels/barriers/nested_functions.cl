// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Functions with barriers that call functions with barriers, in a loop.
void publish(local int *tmp, int v) {
    barrier(CLK_LOCAL_MEM_FENCE);
    tmp[get_local_id(0)] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
}

int neighbours(local int *tmp, int v) {
    size_t l = get_local_id(0), n = get_local_size(0);
    publish(tmp, v);
    int sum = tmp[(l + 1) % n] + tmp[(l + n - 1) % n];
    publish(tmp, sum);
    return tmp[n - 1 - l];
}

kernel void nested_functions(global const int *in, global int *out, local int *tmp) {
    size_t g = get_global_id(0);
    int v = in[g];
    for (int i = 0; i < 3; ++i)
        v = neighbours(tmp, v) - i;
    out[g] = v;
}
