// One step of Batcher's bitonic sort: each work-item puts one pair into the order of its block.
kernel void bitonic_step(global uint *keys, uint stage, uint pass) {
    uint i = get_global_id(0);
    uint distance = 1u << (stage - pass);
    uint left = i % distance + i / distance * 2 * distance;
    uint right = left + distance;
    bool rising = (i >> stage & 1) == 0;
    uint a = keys[left], b = keys[right];
    uint less = a < b ? a : b, more = a < b ? b : a;
    if (rising) {
        keys[left] = less;
        keys[right] = more;
    } else {
        keys[left] = more;
        keys[right] = less;
    }
}
