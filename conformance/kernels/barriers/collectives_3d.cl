// args: in:int[512] out:int[512]; global: 8 8 8; local: 4 2 8
// Three-dimensional groups: scans go by linear ids.
kernel void collectives_3d(global const int *in, global int *out) {
    size_t g = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
    int v = in[g];
    int last = work_group_broadcast(v, get_local_size(0) - 1, get_local_size(1) - 1, get_local_size(2) - 1);
    out[g] = work_group_scan_exclusive_add(v) + 2 * work_group_reduce_min(v) + 3 * last;
}
