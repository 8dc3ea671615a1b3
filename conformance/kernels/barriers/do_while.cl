// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// A do-while loop whose condition is read after the barrier.
kernel void do_while(global const int *in, global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int v = in[g], rounds = 0, go;
    do {
        tmp[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v = tmp[(l + 1) % n] + 1;
        go = tmp[0] % 6 != 0;
        ++rounds;
        barrier(CLK_LOCAL_MEM_FENCE);
    } while (go && rounds < 7);
    out[g] = v * 8 + rounds;
}
