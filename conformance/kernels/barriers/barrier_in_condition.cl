// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// The loop's condition and a short-circuit operand are calls with barriers.
int group_maximum(local int *tmp, int v) {
    size_t l = get_local_id(0), n = get_local_size(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    tmp[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    int most = tmp[0];
    for (size_t i = 1; i < n; ++i)
        most = max(most, tmp[i]);
    return most;
}

kernel void barrier_in_condition(global const int *in, global int *out, local int *tmp) {
    size_t g = get_global_id(0);
    int v = in[g], rounds = 0;
    while (group_maximum(tmp, v) > 10) {
        v -= v > 3 ? v / 3 : 0;
        ++rounds;
    }
    int both = (rounds & 1) && group_maximum(tmp, v + rounds) > 12;
    out[g] = v + 100 * rounds + 10000 * both;
}
