// What the work-items of sub-groups do together, wherever control flow brings them together. ATTRIBUTE may ask for a size.

size_t place(void) {
    return get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));
}

// What another one holds, if it is there as well.
int of(int v, uint lane) {
    uint4 there = sub_group_ballot(1);
    int found = sub_group_shuffle(v, lane);
    return lane < get_max_sub_group_size() && (there.x >> lane & 1) ? found : -7;
}

int together(int v) {
    uint id = get_sub_group_local_id();
    int sum = sub_group_non_uniform_reduce_add(v) + 3 * sub_group_non_uniform_scan_inclusive_max(v);
    sum += 5 * sub_group_non_uniform_scan_exclusive_add(v) + (sub_group_elect() ? 1000 : 0);
    sum += 7 * sub_group_clustered_reduce_min(v, 4) + 11 * of(v, id ^ 3) + 13 * of(v, (uint)v & (get_max_sub_group_size() - 1));
    sum += (int)(sub_group_non_uniform_reduce_max((float)v) + sub_group_non_uniform_scan_inclusive_add((float)(v & 7)));
    sum += (int)sub_group_non_uniform_reduce_xor((long)v << 20 | v) + sub_group_non_uniform_reduce_add((char)(v & 3));
    return sum ^ sub_group_broadcast_first(v) ^ sub_group_ballot_exclusive_scan(sub_group_ballot(v & 1));
}

// Branches, switches, early returns and values that meet behind them.
ATTRIBUTE kernel void parted(global const int *in, global int *out) {
    size_t at = place();
    int v = in[at], result = together(v);
    if (v & 1) {
        result += together(v + 1);
        if (v & 2) result ^= together(v * 3);
    } else if (sub_group_any(v > 500)) {
        result -= together(v - 1);
    }
    out[at] = result;
    switch (v & 7) {
    case 1: result = together(result & 1023); break;
    case 2: case 6: result += together(v >> 1); break;
    case 5: return;
    default: result += sub_group_non_uniform_all(v < 900) ? together(5) : together(v); break;
    }
    out[at] = result + together(1);
}

// Loops that lanes leave one by one, with others in them.
ATTRIBUTE kernel void rounds(global const int *in, global int *out) {
    size_t at = place();
    int v = in[at], n = v & 7, result = 0;
    for (int i = 0; i < n; ++i) {
        result = result * 3 + sub_group_non_uniform_reduce_add(v + i);
        if (sub_group_non_uniform_all(i > 3)) break;
        for (int j = i; j < (v >> 3 & 3); ++j) {
            if (sub_group_non_uniform_scan_inclusive_add(1) == 3) continue;
            result ^= (int)sub_group_ballot(v & 16).x + of(v, j);
        }
    }
    while (n > 0) {
        n -= 1 + (int)(sub_group_ballot_bit_count(sub_group_ballot(n > 2)) & 1);
        result += n;
    }
    out[at] = result;
}

// Memory that a sub-group and a group share.
ATTRIBUTE kernel void exchanged(global const int *in, global int *out) {
    local int shown[1024];
    size_t at = place();
    uint id = get_sub_group_local_id(), first = get_sub_group_id() * get_max_sub_group_size();
    uint own = first + id, size = get_sub_group_size();
    int v = in[at], kept = sub_group_scan_inclusive_add(v);
    shown[own] = v;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    int next = shown[first + (id + 1) % size];
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    shown[own] = next + kept;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint items = get_local_size(0) * get_local_size(1) * get_local_size(2);
    int result = shown[items - 1 - own] + sub_group_reduce_max(kept) + (int)sub_group_broadcast(v, size - 1);
    result += 100 * (int)get_num_sub_groups() + 10 * (int)get_local_id(1) + (int)get_global_id(0);
    out[at] = result + work_group_reduce_add(sub_group_all(v > 10));
}
