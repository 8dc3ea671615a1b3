// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Nothing comes before the barrier.
kernel void first_statement(global const int *in, global int *out, local int *tmp) {
    barrier(CLK_LOCAL_MEM_FENCE);
    size_t g = get_global_id(0);
    tmp[get_local_id(0)] = in[g];
    out[g] = tmp[get_local_id(0)] + 1;
}
