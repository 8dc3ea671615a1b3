// args: in:int[256] out:int[256] local:int[64] int:11413; global: 256; local: 64
// So many barriers under conditions that they share regions.
#define EXCHANGE(k) \
    tmp[l] = a; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    a = (a * 3 + tmp[(l + k + 1) % n]) & 0xffff; \
    barrier(CLK_LOCAL_MEM_FENCE);
#define STEP(k) \
    if (f >> (k % 16) & 1) { \
        EXCHANGE(k) \
    } else { \
        a += k; \
    }
kernel void many_conditional(global const int *in, global int *out, local int *tmp, int f) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int a = in[g];
    STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
    STEP(8) STEP(9) STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15)
    STEP(16) STEP(17) STEP(18) STEP(19) STEP(20) STEP(21) STEP(22) STEP(23)
    STEP(24) STEP(25) STEP(26) STEP(27) STEP(28) STEP(29) STEP(30) STEP(31)
    STEP(32) STEP(33) STEP(34) STEP(35) STEP(36) STEP(37) STEP(38) STEP(39)
    out[g] = a;
}
