// Indices of which whole pieces lie side by side in memory.

// Each pair of neighbours at a distance of 1 << n changes places, in every second piece with a mark.
kernel void exchange(global uint *keys, uint n) {
    uint i = get_global_id(0);
    uint distance = 1u << n;
    uint left = i % distance + i / distance * 2 * distance;
    uint right = left + distance;
    uint a = keys[left], b = keys[right];
    uint mark = i >> n & 1 ? 1000 : 0;
    keys[left] = b + mark;
    keys[right] = a;
}

// What a mask keeps and what it drops.
kernel void masked(global uint *keys, uint m) {
    uint i = get_global_id(0);
    uint mask = m + 0x100;
    keys[512 + i] = keys[i & mask] + (i & ~mask);
}

// Pieces of any length.
kernel void divided(global uint *keys, uint d) {
    uint i = get_global_id(0);
    uint length = d * 3;
    uint value = keys[i % length] + i / length;
    keys[768 + i] = value ^ length;
}
