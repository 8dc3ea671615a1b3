// Loops that read and write one place in every iteration.

kernel void sums(global const int *in, global int *out, int n) {
    int i = get_global_id(0);
    for (int k = 0; k < n; ++k) out[i * 3] += in[i + k];
}

// Fields of one structure, another of which only some iterations write.
typedef struct {
    int sum, least, count;
} Found;

kernel void fields(global const int *in, global Found *out, int n) {
    int i = get_global_id(0);
    for (int k = 0; k < n; ++k) {
        out[i].sum += in[i + k];
        if (in[i + k] < out[i].least) out[i].least = in[i + k];
        out[i].count += 1;
    }
}

// A loop that lanes leave one by one, in the middle.
kernel void until(global const int *in, global int *out, int n) {
    int i = get_global_id(0);
    for (int k = 0; k < n; ++k) {
        out[i * 3] += in[i + k];
        if (out[i * 3] % 5 == 2) break;
        out[i * 3 + 1] = k;
    }
}

// What is there after the inner loop is read and written by the outer one.
kernel void nested(global const int *in, global int *out, int n) {
    int i = get_global_id(0);
    for (int a = 0; a <= i % 3; ++a) {
        for (int k = 0; k < n; ++k) out[i * 3] += in[i + k] * a;
        out[i * 3] ^= a;
    }
}

// Local memory is elsewhere, whatever the launch is like.
kernel void local_rows(global const int *in, global int *out, int n) {
    local int row[64];
    int i = get_global_id(0), l = get_local_id(0);
    row[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < n; ++k) out[i * 3] += row[(l + k) % (int)get_local_size(0)];
}

// Never entered for some.
kernel void maybe(global const int *in, global int *out, int n) {
    int i = get_global_id(0);
    for (int k = 0; k < i % 4 - 1; ++k) out[i * 3] += in[i + k];
}

// Halves of what is written are read.
kernel void parts(global const int *in, global int *out, int n) {
    int i = get_global_id(0);
    for (int k = 0; k < n; ++k) {
        out[i * 3] += in[i + k] * 70001;
        out[i * 3 + 1] += ((global short *)&out[i * 3])[1];
    }
}
