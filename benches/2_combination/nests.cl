// Two loops, one in the other, as in Bulavintsev 2019: in every round of the outer one, some work-items find no work for
// the inner one. `outer` and `inner` are how much each round computes.
uint worked(uint value, int rounds) {
    for (int k = 0; k < rounds; ++k) value = (value ^ value >> 15) * 2246822519u + 3266489917u;
    return value;
}

kernel void nested(global uint *values, int rounds, int tries, int outer, int inner, uint without) {
    uint i = get_global_id(0), value = values[i];
    for (int a = 0; a < rounds; ++a) {
        value = worked(value, outer);
        // Of 16 neighbours, `without` have no work now; which ones, changes from round to round.
        uint place = (i + a * 7u) % 16u;
        int b = place < without ? tries : 0;
        while (b < tries) {
            value = worked(value, inner);
            ++b;
        }
    }
    values[i] = value;
}

// Three loops: in every round a work-item has so many of the middle one, in each of which it has so many of the inner one.
kernel void nested_in_three(global uint *values, global const uchar *middle, global const uchar *inner, int rounds) {
    uint i = get_global_id(0), items = get_global_size(0), value = values[i];
    for (int a = 0; a < rounds; ++a) {
        uint place = a * items + i;
        for (uint b = 0; b < middle[place]; ++b)
            for (uint c = 0; c < inner[place + b]; ++c) value = worked(value, 4) ^ c;
    }
    values[i] = value;
}
