// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// The 2.0 form of the barrier, with its scopes and with fences beside it.
kernel void work_group_barrier_scopes(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    tmp[l] = in[g];
    mem_fence(CLK_LOCAL_MEM_FENCE);
    work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
    int v = tmp[(l + 5) % n];
    read_mem_fence(CLK_LOCAL_MEM_FENCE);
    work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    write_mem_fence(CLK_GLOBAL_MEM_FENCE);
    tmp[l] = v;
    work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
    out[g] = tmp[n - 1 - l] - v;
}
