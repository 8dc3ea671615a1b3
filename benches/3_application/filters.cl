// Filters of images, in two patterns of access (Fukuhara & Takimoto 2021): neighbouring work-items at neighbouring
// points, or each with a row of points of its own.

float sobel_at(global const uchar *at, int pitch) {
    int across = at[-pitch + 1] + 2 * at[1] + at[pitch + 1] - at[-pitch - 1] - 2 * at[-1] - at[pitch - 1];
    int down = at[pitch - 1] + 2 * at[pitch] + at[pitch + 1] - at[-pitch - 1] - 2 * at[-pitch] - at[-pitch + 1];
    return sqrt((float)(across * across + down * down));
}

// `next` is how far a work-item's points are from each other, `first` how far those of neighbours are.
kernel void sobel(global const uchar *in, global uchar *out, int width, int each, int first, int next) {
    int x = get_global_id(0) * first, y = get_global_id(1), pitch = width + 2;
    for (int k = 0; k < each; ++k, x += next) {
        float edge = sobel_at(in + (y + 1) * pitch + x + 1, pitch);
        out[y * width + x] = edge > 255.0f ? 255 : (uchar)edge;
    }
}

kernel void bilateral(global const float *in, global float *out, constant float *near, int width, int each, int first,
                      int next) {
    int x = get_global_id(0) * first, y = get_global_id(1), pitch = width + 4;
    for (int k = 0; k < each; ++k, x += next) {
        float here = in[(y + 2) * pitch + x + 2], sum = 0.0f, weights = 0.0f;
        for (int dy = 0; dy < 5; ++dy)
            for (int dx = 0; dx < 5; ++dx) {
                float there = in[(y + dy) * pitch + x + dx], difference = there - here;
                float weight = near[dy * 5 + dx] * exp(-8.0f * difference * difference);
                sum += weight * there;
                weights += weight;
            }
        out[y * width + x] = sum / weights;
    }
}
