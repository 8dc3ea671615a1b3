// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Nothing comes after the barrier.
kernel void last_statement(global const int *in, global int *out, local int *tmp) {
    size_t g = get_global_id(0);
    tmp[get_local_id(0)] = in[g] - 1;
    out[g] = tmp[get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
