// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Work between arriving and waiting, twice, with and without a scope; on a driver without split barriers, whole ones.
#ifdef cl_intel_split_work_group_barrier
#define ARRIVE(...) intel_work_group_barrier_arrive(__VA_ARGS__)
#define WAIT(...) intel_work_group_barrier_wait(__VA_ARGS__)
#else
#define ARRIVE(...)
#define WAIT(...) work_group_barrier(__VA_ARGS__)
#endif
kernel void split_barrier(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    tmp[l] = in[g];
    ARRIVE(CLK_LOCAL_MEM_FENCE);
    int between = in[g] * 3;
    WAIT(CLK_LOCAL_MEM_FENCE);
    int right = tmp[(l + 1) % n];
    ARRIVE(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
    between += right;
    WAIT(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
    tmp[l] = between;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tmp[(l + n - 1) % n];
}
