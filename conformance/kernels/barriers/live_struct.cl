// args: in:int[256] out:int[256] local:int[64]; global: 256; local: 64
// A struct with an array in it, passed by pointer to a function with a barrier.
typedef struct {
    char kind;
    int value;
    float weight;
    int history[3];
} Item;

void step_item(Item *item, local int *tmp, int round) {
    size_t l = get_local_id(0), n = get_local_size(0);
    tmp[l] = item->value;
    barrier(CLK_LOCAL_MEM_FENCE);
    item->history[round] = item->value;
    item->value = tmp[(l + 1) % n] + item->kind;
    item->weight += 0.5f;
    barrier(CLK_LOCAL_MEM_FENCE);
}

kernel void live_struct(global const int *in, global int *out, local int *tmp) {
    size_t g = get_global_id(0);
    Item item;
    item.kind = (char)(g & 3);
    item.value = in[g];
    item.weight = 1.0f;
    for (int round = 0; round < 3; ++round)
        step_item(&item, tmp, round);
    out[g] = item.value + item.history[0] + 2 * item.history[1] + 3 * item.history[2] + (int)(item.weight * 100.0f);
}
