// What work-items of groups of any size in one to three dimensions do together and apart.

size_t own(void) {
    return get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2));
}

size_t items(void) {
    return get_local_size(0) * get_local_size(1) * get_local_size(2);
}

size_t place(void) {
    return get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));
}

// Values and arrays that are kept over barriers, in a loop and behind a branch that all of a group take.
kernel void kept(global const int *in, global int *out) {
    local int shown[1024];
    size_t lid = own(), n = items();
    int value = in[place()];
    int history[5];
    for (int i = 0; i < 5; ++i) {
        shown[lid] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        history[i] = value * (int)(get_local_id(1) + 2);
        value += shown[(lid * 3 + i) % n] - (int)get_local_id(0);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (n > 2) {
        shown[lid] = history[(lid + n) % 5];
        barrier(CLK_LOCAL_MEM_FENCE);
        value ^= shown[n - 1 - lid];
    }
    for (int i = 0; i < 5; ++i) value = value * 3 + history[i];
    out[place()] = value;
}

// A tree, of which only some take part.
kernel void tree(global const int *in, global int *out) {
    local int sums[1024];
    size_t lid = own(), n = items();
    sums[lid] = in[place()] + (int)get_global_id(1);
    for (size_t s = 512; s > 0; s /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < s && lid + s < n) sums[lid] += sums[lid + s];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[place()] = sums[0] - (int)lid;
}

// Rows, columns, one place for a row or a column, branches and loops that depend on either.
kernel void places(global const int *in, global int *out) {
    local int tile[1024];
    uint x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
    uint w = get_local_size(0), h = get_local_size(1);
    int row = in[y], column = in[x], sum = 0;
    float wide = in[z] * 0.5f;
    for (uint k = 0; k < h; ++k) sum += in[k * w + x] * in[k + y] + (int)(wide * in[k]);
    tile[(z * w + x) * h + y] = sum + row;
    if (y > 0) sum -= in[y - 1] * (int)(y & 3);
    if (x + 1 < w) sum += column;
    for (uint k = 0; k < (y & 3); ++k) sum = sum * 5 + in[2 * x + k];
    for (uint k = 0; k < (x & 3); ++k) sum = sum * 7 + in[3 * y + k];
    barrier(CLK_LOCAL_MEM_FENCE);
    int3 three = vload3(y * w + x, in);
    sum += tile[own()] + three.x * three.y - three.z;
    if ((y & 1) == 0) sum = in[place()] / (row % 5 + 7) - sum;
    out[place()] = sum + (int)(y * 100 + x);
}

// Answers that go by the order of the work-items.
kernel void collected(global const int *in, global int *out) {
    int value = in[place()];
    int up_to = work_group_scan_inclusive_add(value * (int)(get_local_id(0) + 1));
    int most = work_group_scan_exclusive_max(value ^ (int)get_local_id(1));
    int all = work_group_reduce_add(up_to % 7);
    out[place()] = up_to * 3 + (own() == 0 ? 0 : most) + all;
}
