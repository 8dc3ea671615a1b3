// args: in:int[256] out:int[256] local:int[64] int:11413; global: 256; local: 64
// So many barriers under conditions in conditions, in a loop and in a switch with fall-through that they share regions.
#define EXCHANGE(k) \
    tmp[l] = a; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    a = (a * 3 + tmp[(l + k + 1) % n]) & 0xffff; \
    barrier(CLK_LOCAL_MEM_FENCE);
#define STEP(k) \
    if (f >> (k % 11) & 1) { \
        EXCHANGE(k) \
        if (f >> (k % 5) & 1) { \
            EXCHANGE(k + 1) \
        } \
    } else { \
        a += k; \
    }
kernel void many_conditional_in_loop(global const int *in, global int *out, local int *tmp, int f) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int a = in[g];
    for (int i = 0; i < 4; ++i) {
        switch (f >> i & 3) {
        case 0: EXCHANGE(0)
        case 1: EXCHANGE(1) break;
        case 2: EXCHANGE(2)
        default: a -= i;
        }
        STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
        STEP(8) STEP(9) STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15)
        STEP(16) STEP(17) STEP(18) STEP(19) STEP(20) STEP(21) STEP(22) STEP(23)
        if (a == -1) {
            // Some work-items may do this alone.
            a = 0;
        }
    }
    out[g] = a;
}
