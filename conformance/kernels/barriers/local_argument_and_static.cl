// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Local memory from an argument and from two arrays of the kernel, one of them of structs.
typedef struct {
    int a;
    short b;
} Pair;

kernel void local_argument_and_static(global const int *in, global int *out, local int *tmp) {
    local int fixed[64];
    local Pair pairs[64];
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    tmp[l] = in[g];
    fixed[l] = in[g] * 2;
    pairs[l].a = in[g] * 3;
    pairs[l].b = (short)(in[g] * 4);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tmp[(l + 1) % n] + fixed[(l + 2) % n] + pairs[(l + 3) % n].a + pairs[n - 1 - l].b;
}
