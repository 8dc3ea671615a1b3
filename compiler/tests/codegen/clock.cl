// What kernels find between readings of the clock.

// Readings on two ways, around a loop that lanes leave one by one, and on both sides of a barrier never go back.
kernel void in_order(global const int *in, global int *out)
{
    size_t i = get_global_linear_id();
    ulong first = clock_read_device();
    int sum = 0;
    for (int k = 0; k < (in[i] & 15); k++)
        sum += in[(i + k) % get_global_size(0)];
    ulong second;
    if (in[i] & 1) {
        second = clock_read_work_group();
    } else {
        sum *= 3;
        second = clock_read_sub_group();
    }
    uint2 parts = clock_read_hilo_device();
    ulong third = upsample(parts.s1, parts.s0);
    barrier(CLK_LOCAL_MEM_FENCE);
    ulong fourth = clock_read_device();
    out[i] = sum * 2 + (first != 0 && first <= second && second <= third && third <= fourth);
}

// A loop sees the clock go on: a reading that was made only once would run it to its end.
kernel void goes_on(global const int *in, global int *out)
{
    size_t i = get_global_linear_id();
    ulong start = clock_read_device();
    ulong now = start;
    for (int round = 0; round < 100000000 && now - start < 1000; round++)
        now = clock_read_device();
    out[i] = now - start >= 1000 ? in[i] : -1;
}

// Neither of these readings is another one.
kernel void apart(global const int *in, global ulong *out, int way)
{
    size_t i = get_global_id(0);
    ulong a = clock_read_device();
    ulong b = clock_read_device();
    if (way > 3)
        out[0] = clock_read_device();
    else
        out[1] = clock_read_device();
    out[i] = b - a;
    clock_read_device();
}
