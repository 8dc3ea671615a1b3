// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// A loop whose items make different numbers of rounds, before and after a barrier.
kernel void divergent_trip_counts(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g], steps = 0;
    uint x = v + 1;
    while (x != 1 && steps < 100) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        ++steps;
    }
    tmp[l] = steps;
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (size_t i = 0; i <= l; ++i) {
        if (tmp[i] > 90)
            continue;
        sum += tmp[i];
        if (sum > 500)
            break;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    tmp[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tmp[n - 1 - l] + steps;
}
