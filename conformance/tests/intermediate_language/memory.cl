// What the modules beside this file were made of: memory of all kinds, groups, atomics.
typedef struct {
    int a;
    float4 b;
    short c[3];
} Record;
constant int table[4] = {11, 22, 33, 44};
global int counter = 5;

kernel void memory(global int *out, global const int *in)
{
    size_t i = get_global_id(0);
    int own[8];
    for (int k = 0; k < 8; k++)
        own[k] = k * in[i];
    Record record = {in[i], (float4)(1, 2, 3, 4), {5, 6, 7}};
    record.c[in[i] & 1] = in[i];
    int *chosen = (in[i] & 1) ? own + 1 : record.a > 0 ? &record.a : (int *)0;
    vstore4(vload4(0, in + i) * 2, i, out + 256);
    out[i] = own[in[i + 256] & 7] + table[in[i] & 3] + counter + record.c[1] + (int)record.b.z + (chosen ? chosen[0] : 2);
}

kernel void groups(global int *out, global const int *in, local int *given)
{
    local int shared[64];
    size_t i = get_global_id(0), l = get_local_id(0);
    shared[l] = in[i];
    given[l] = in[i + 256];
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = (shared[63 - l] & 0xffff) + (given[(l + 1) & 63] & 0xff);
    int r = work_group_reduce_add(x) + work_group_scan_inclusive_max(x) + work_group_broadcast(x, 3);
    r += work_group_all(x >= 0) + work_group_any(x > 65530) + sub_group_reduce_min(x) + sub_group_broadcast(x, 1);
    r += get_num_groups(0) + get_local_size(0) + get_group_id(0) + get_work_dim() + get_sub_group_size();
    event_t copy = async_work_group_copy(given, in, 32, 0);
    wait_group_events(1, &copy);
    out[i] = r + given[l & 31] + get_global_linear_id() + get_local_linear_id();
}

kernel void atomics(global int *out, global const int *in)
{
    size_t i = get_global_id(0);
    atomic_add(&out[0], in[i] & 15);
    atomic_max(&out[1], in[i]);
    atomic_min((global uint *)&out[2], (uint)in[i]);
    atomic_or(&out[3], in[i]);
    atomic_inc(&out[4]);
    atomic_fetch_xor_explicit((volatile global atomic_int *)&out[5], in[i], memory_order_relaxed, memory_scope_device);
    int expected = 0;
    atomic_compare_exchange_strong((volatile global atomic_int *)&out[6], &expected, 7);
}
