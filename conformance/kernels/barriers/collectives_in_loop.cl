// args: in:int[256] out:int[256]; global: 256; local: 64
// Collective functions in a loop that they end, under conditions that they decide, and in its condition.
kernel void collectives_in_loop(global const int *in, global int *out) {
    size_t g = get_global_id(0);
    int v = in[g], i = 0;
    while (work_group_reduce_max(v) > 9 && i < 5) {
        int sum = work_group_scan_inclusive_add(v & 7);
        if (work_group_any(v == 50 + i)) {
            sum -= work_group_broadcast(v, (size_t)i % get_local_size(0));
            if (work_group_all(sum < 200)) {
                i += 2;
                continue;
            }
        }
        v = (v + sum) % (60 >> i++);
    }
    out[g] = v * 8 + i;
}
