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

// Particles in boxes: a group takes a box, stages the particles of each box around it in local memory, and adds up what they
// do to its own. Groups have more work-items than boxes have particles. The first number of a place is half the square of the
// others' length.
#define PARTICLES_IN_BOXES(NAME, T)                                                                                     \
    kernel void NAME(global const int *near, global const T *places, global const T *charges, global T *forces,         \
                     int around, int count, T decay) {                                                                  \
        local T mine[128][4], others[128][4], charge[128];                                                              \
        int box = get_group_id(0), item = get_local_id(0), first = box * count;                                         \
        for (int i = item; i < count; i += get_local_size(0))                                                           \
            for (int part = 0; part < 4; ++part) mine[i][part] = places[4 * (first + i) + part];                        \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                   \
        for (int n = 0; n < around; ++n) {                                                                              \
            int other = near[box * around + n] * count;                                                                 \
            for (int i = item; i < count; i += get_local_size(0)) {                                                     \
                for (int part = 0; part < 4; ++part) others[i][part] = places[4 * (other + i) + part];                  \
                charge[i] = charges[other + i];                                                                         \
            }                                                                                                           \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                               \
            for (int i = item; i < count; i += get_local_size(0)) {                                                     \
                global T *force = forces + 4 * (first + i);                                                             \
                for (int j = 0; j < count; ++j) {                                                                       \
                    T square = mine[i][0] + others[j][0]                                                                \
                               - (mine[i][1] * others[j][1] + mine[i][2] * others[j][2] + mine[i][3] * others[j][3]);   \
                    T potential = charge[j] * exp(-decay * square);                                                     \
                    force[0] += potential;                                                                              \
                    force[1] += 2 * potential * (mine[i][1] - others[j][1]);                                            \
                    force[2] += 2 * potential * (mine[i][2] - others[j][2]);                                            \
                    force[3] += 2 * potential * (mine[i][3] - others[j][3]);                                            \
                }                                                                                                       \
            }                                                                                                           \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                               \
        }                                                                                                               \
    }
PARTICLES_IN_BOXES(box_forces, float)
PARTICLES_IN_BOXES(box_forces_double, double)

// Rates of reactions between six species, in both directions, as combustion has them: logarithms and exponentials one after the
// other, without a branch.
kernel void reaction_rates(global const double *heat, global const double *amounts, global double *changes, int count) {
    int i = get_global_id(0);
    double t = heat[i], logarithm = log(t), inverse = 1.0 / t;
    double c0 = amounts[i], c1 = amounts[count + i], c2 = amounts[2 * count + i];
    double c3 = amounts[3 * count + i], c4 = amounts[4 * count + i], c5 = amounts[5 * count + i];
    double w0 = 0, w1 = 0, w2 = 0, w3 = 0, w4 = 0, w5 = 0;
#define REACTION(A, B, C, D, FACTOR, POWER, ENERGY)                                                                     \
    {                                                                                                                   \
        double forth = exp(FACTOR + POWER * logarithm - ENERGY * inverse);                                              \
        double back = forth * exp(0.5 * POWER - 0.25 * ENERGY * inverse);                                               \
        double pressure = forth * (c##A + c##B) / (1.0 + back);                                                         \
        double falloff = exp(-log(1.0 + pressure) * 0.3) * pressure / (1.0 + pressure);                                 \
        double rate = falloff * (forth * c##A * c##B - back * c##C * c##D);                                             \
        w##A -= rate;                                                                                                   \
        w##B -= rate;                                                                                                   \
        w##C += rate;                                                                                                   \
        w##D += rate;                                                                                                   \
    }
    REACTION(0, 1, 2, 3, 1.25, 0.10, 1200.0)
    REACTION(0, 2, 4, 5, 0.75, 0.20, 800.0)
    REACTION(1, 3, 2, 5, 1.50, -0.15, 600.0)
    REACTION(4, 5, 0, 3, 0.25, 0.05, 1500.0)
    REACTION(2, 3, 1, 4, 1.00, 0.00, 900.0)
    REACTION(3, 4, 0, 2, 0.50, 0.25, 2100.0)
    REACTION(1, 5, 3, 4, 2.00, -0.20, 300.0)
    REACTION(0, 5, 1, 2, 0.80, 0.15, 1700.0)
    changes[i] = w0;
    changes[count + i] = w1;
    changes[2 * count + i] = w2;
    changes[3 * count + i] = w3;
    changes[4 * count + i] = w4;
    changes[5 * count + i] = w5;
}
