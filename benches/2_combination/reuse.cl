// What a work-item has read already: in the iteration before, or on another path (Fukuhara & Takimoto 2021).

// Work-items of each launch, and values of each of them.
enum { ITEMS = 2048, VALUES = 65 };

// Figure 6: two divergent branches, behind the second of which an iteration reads what each path of the next one reads.
#define FIGURE_6(at) \
    size_t id = get_global_id(0); \
    float limit = limits[id], sum = 0.0f; \
    for (int i = 0; i < count; ++i) { \
        if (sum < limit) { \
            sum += 1.5f; \
        } else if (sum < 4.0f * limit) { \
            sum -= at(i + 1); \
        } else { \
            sum *= 0.25f; \
        } \
        sum += 0.5f * at(i); \
    } \
    out[id] = sum;

// Neighbours' values are side by side.
#define IN_COLUMN(i) a[(size_t)(i) * ITEMS + id]
kernel void figure_6(global const float *a, global const float *limits, global float *out, int count) {
    FIGURE_6(IN_COLUMN)
}

// Each work-item has a row of them.
#define IN_ROW(i) (a + id * VALUES)[i]
kernel void figure_6_rows(global const float *a, global const float *limits, global float *out, int count) {
    FIGURE_6(IN_ROW)
}

// One arm of a divergent branch reads what follows it reads.
kernel void read_in_arm(global const float *a, global const float *limits, global float *out, int count) {
    int id = get_global_id(0);
    float limit = limits[id], sum = 0.0f;
    for (int i = 0; i < count; ++i) {
        float scale = 1.0f;
        if (sum < limit) scale = 2.0f - sqrt(a[i * ITEMS + id]);
        sum = 0.75f * sum + scale * a[i * ITEMS + id];
    }
    out[id] = sum;
}

// A loop that keeps clang from moving what comes after it in front of the branch before it.
static float halved(float value) {
    while (value > 2.0f) value *= 0.5f;
    return value;
}

// Both arms of a divergent branch read the same at the end of what they do.
kernel void read_in_arms(global const float *a, global const float *limits, global float *out, int count) {
    int id = get_global_id(0);
    float limit = limits[id], sum = 0.0f;
    for (int i = 0; i < count; ++i) {
        if (sum < limit) {
            float scale = halved(sqrt(sum + 1.0f));
            sum += scale * a[i * ITEMS + id];
        } else {
            float scale = halved(1.0f / (sum + 1.0f));
            sum = scale - 0.5f * a[i * ITEMS + id];
        }
    }
    out[id] = sum;
}

// Both arms of a branch that all work-items take alike read the same at the end of what they do.
kernel void read_in_uniform_arms(global const float *a, global const float *limits, global float *out, int count) {
    int id = get_global_id(0);
    float limit = limits[id], sum = 0.0f;
    for (int i = 0; i < count; ++i) {
        if (i % 3 == 0) {
            float scale = halved(sqrt(fabs(sum) + 1.0f));
            sum += scale * a[i * ITEMS + id];
        } else {
            float scale = halved(limit / (fabs(sum) + 1.0f));
            sum = scale - 0.5f * a[i * ITEMS + id];
        }
    }
    out[id] = sum;
}
