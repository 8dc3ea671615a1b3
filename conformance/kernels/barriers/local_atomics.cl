// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// Every atomic operation on local memory by all work-items, then what came of it.
kernel void local_atomics(global const int *in, global int *out, local int *tmp) {
    local int cell[10], tickets[64];
    size_t l = get_local_id(0), g = get_global_id(0), n = get_local_size(0);
    for (size_t i = l; i < 64; i += n) {
        tickets[i] = 0;
        if (i < 10)
            cell[i] = i == 4 ? -1 : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int v = in[g] & 1023;
    atomic_add(cell, v);
    atomic_sub(cell + 1, v & 3);
    atomic_min(cell + 2, -v);
    atomic_max((volatile local uint *)cell + 3, v);
    atomic_and(cell + 4, v | 0x700);
    atomic_or(cell + 5, v);
    atomic_xor(cell + 6, v);
    // Each work-item draws a number of its own.
    atomic_inc(tickets + (atomic_inc(cell + 7) & 63));
    int old = cell[8], seen;
    while ((seen = atomic_cmpxchg(cell + 8, old, old * 3 + 1)) != old)
        old = seen;
    // What was put in and what is taken out are the same in the end.
    tmp[l] = atomic_xchg(cell + 9, v);
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = cell[9];
    for (size_t i = 0; i < n; ++i)
        sum += tmp[i];
    int drawn = 1;
    for (size_t i = 0; i < n; ++i)
        drawn &= tickets[i & 63] == 1;
    out[g] = l % 10 == 9 ? sum * 2 + drawn : cell[l % 10];
}
