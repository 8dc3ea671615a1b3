// Work-items whose columns are memory's rows: what transposes, as it is first written down.

// Writes along columns.
kernel void writes_columns(global const int *in, global int *out, uint width, uint height) {
    uint x = get_global_id(0), y = get_global_id(1);
    out[x * height + y] = in[y * width + x] + 5;
}

// Reads along columns, and computes with what came.
kernel void reads_columns(global const int *in, global int *out, uint width, uint height) {
    size_t x = get_global_id(0), y = get_global_id(1);
    out[y * width + x] = in[x * height + y] * (int)(x + 3) - (int)y;
}

// From columns to columns, so that nothing is moved within registers but the rows between them.
kernel void both(global const int *in, global int *out, uint width, uint height) {
    int x = get_global_id(0), y = get_global_id(1);
    out[x * height + y] = in[x * height + y] ^ in[y * width + x];
}

// Elements of other sizes.
kernel void bytes(global const uchar *in, global uchar *out, uint width, uint height) {
    size_t x = get_global_id(0), y = get_global_id(1);
    out[x * height + y] = in[y * width + x] + 1;
}

kernel void shorts(global const short *in, global short *out, uint width, uint height) {
    size_t x = get_global_id(0), y = get_global_id(1);
    out[x * height + y] = in[y * width + x] * 3;
}

kernel void longs(global const long *in, global long *out, uint width, uint height) {
    uint x = get_global_id(0), y = get_global_id(1);
    out[x * height + y] = in[y * width + x] + x;
}

// Elements of vectors are rows of their own.
kernel void pairs(global const int2 *in, global int2 *out, uint width, uint height) {
    size_t x = get_global_id(0), y = get_global_id(1);
    out[x * height + y] = in[y * width + x].yx;
}

// Through local memory, written by rows and read by columns, in square groups.
kernel void through_local(global const int *in, global int *out, uint width, uint height) {
    local int tile[1024];
    uint x = get_local_id(0), y = get_local_id(1), w = get_local_size(0);
    tile[y * w + x] = in[get_global_id(1) * width + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(get_group_id(0) * w + y) * height + get_group_id(1) * w + x] = tile[x * w + y];
}

// A table for each row, and one for each column.
kernel void with_tables(global const int *in, global int *out, uint width, uint height) {
    uint x = get_global_id(0), y = get_global_id(1);
    out[x * height + y] = in[y * width + x] * in[x] + in[y];
}
