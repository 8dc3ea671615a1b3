// args: in:int[256] out:int[256]; global: 256; local: 64
// Reductions and scans of several types, one after the other, with local memory between some of them.
kernel void collective_kinds(global const int *in, global int *out) {
    local int first;
    size_t l = get_local_id(0), g = get_global_id(0);
    int v = in[g];
    int sum = work_group_reduce_add(v);
    ulong before = work_group_scan_exclusive_add((ulong)v << 33);
    float top = work_group_scan_inclusive_max((float)v);
    if (l == get_local_size(0) - 1)
        first = sum - (int)(before >> 33);
    barrier(CLK_LOCAL_MEM_FENCE);
    v += first;
    double low = work_group_scan_exclusive_min((double)v);
    out[g] = sum + 3 * (int)(before >> 33) + 5 * (int)top + (l == 0 ? isinf(low) : (int)low);
}
