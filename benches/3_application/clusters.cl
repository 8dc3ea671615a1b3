// One step of k-means in the plane: the nearest of the centres for each point.
kernel void nearest_centres(global const float2 *points, global const float2 *centres, global int *nearest, int count) {
    size_t i = get_global_id(0);
    float2 point = points[i];
    float least = INFINITY;
    int best = 0;
    for (int k = 0; k < count; ++k) {
        float dx = centres[k].x - point.x, dy = centres[k].y - point.y;
        float square = dx * dx + dy * dy;
        if (square < least) {
            least = square;
            best = k;
        }
    }
    nearest[i] = best;
}

// The sums of each centre's points, for the new centres: a work-item per centre and part of the points.
kernel void centre_sums(global const float2 *points, global const int *nearest, global float *sums, int each) {
    int centre = get_global_id(0), part = get_global_id(1), count = get_global_size(0);
    float x = 0.0f, y = 0.0f, members = 0.0f;
    for (int k = part * each; k < (part + 1) * each; ++k)
        if (nearest[k] == centre) {
            x += points[k].x;
            y += points[k].y;
            members += 1.0f;
        }
    global float *out = sums + 3 * (part * count + centre);
    out[0] = x;
    out[1] = y;
    out[2] = members;
}
