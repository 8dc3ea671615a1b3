// The generalized Born radii of a molecule: every pair of atoms goes through a cascade of conditions most of which
// end the work early, as in the hot loop of nab (Moll 2021, Figure 9.4).
kernel void born_sums(global const float4 *atoms, global float *sums, int count, float cutoff, float scale) {
    size_t i = get_global_id(0);
    float4 mine = atoms[i];
    float ri = mine.w, sum = 0.0f;
    for (int j = 0; j < count; ++j) {
        float4 other = atoms[j];
        float dx = mine.x - other.x, dy = mine.y - other.y, dz = mine.z - other.z;
        float square = dx * dx + dy * dy + dz * dz;
        float sj = scale * other.w;
        if (j == (int)i || square > (cutoff + sj) * (cutoff + sj)) continue;
        float d = sqrt(square);
        if (d > cutoff - sj) {
            float top = 1.0f / (d - sj);
            sum -= 0.125f / d * (1.0f + 2.0f * d * top + (square - 4.0f * cutoff * d - sj * sj) / (cutoff * cutoff)
                   + 2.0f * log((d - sj) / cutoff));
        } else if (d > 4.0f * sj) {
            float t = sj * sj / square;
            sum -= t * sj / square * (0.333333f + t * (0.4f + t * (0.428571f + t * (0.444444f + t * 0.454545f))));
        } else if (d > ri + sj) {
            sum -= 0.5f * (sj / (square - sj * sj) + 0.5f * log((d - sj) / (d + sj)) / d);
        } else if (d > fabs(ri - sj)) {
            float theta = 0.5f / (ri * d) * (square + ri * ri - sj * sj);
            float up = 1.0f / (d + sj);
            sum -= 0.25f * (1.0f / ri * (2.0f - theta) - up + log(ri * up) / d);
        } else if (ri < sj) {
            sum -= 0.5f * (sj / (square - sj * sj) + 2.0f / ri + 0.5f * log((sj - d) / (d + sj)) / d);
        }
    }
    sums[i] = sum;
}
