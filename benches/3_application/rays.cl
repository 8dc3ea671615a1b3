typedef struct { float x, y, z, radius, shine; } Sphere;

// A small ray tracer: the nearest sphere along the ray, light from one side, and reflections while there is shine.
kernel void trace_rays(global float *image, constant Sphere *spheres, int count, int bounces) {
    int column = get_global_id(0), row = get_global_id(1);
    int width = get_global_size(0), height = get_global_size(1);
    float ox = 0.0f, oy = 0.0f, oz = -4.0f;
    float dx = (column + 0.5f - 0.5f * width) / height, dy = (row + 0.5f - 0.5f * height) / height, dz = 1.0f;
    float length = 1.0f / sqrt(dx * dx + dy * dy + dz * dz);
    dx *= length; dy *= length; dz *= length;
    float light = 0.0f, weight = 1.0f;
    for (int bounce = 0; bounce < bounces; ++bounce) {
        float nearest = 1e9f;
        int hit = -1;
        for (int k = 0; k < count; ++k) {
            float cx = spheres[k].x - ox, cy = spheres[k].y - oy, cz = spheres[k].z - oz;
            float along = cx * dx + cy * dy + cz * dz;
            float off = cx * cx + cy * cy + cz * cz - along * along;
            float inside = spheres[k].radius * spheres[k].radius - off;
            if (inside > 0.0f) {
                float distance = along - sqrt(inside);
                if (distance > 1e-3f && distance < nearest) {
                    nearest = distance;
                    hit = k;
                }
            }
        }
        if (hit < 0) {
            light += weight * (0.5f - 0.5f * dy);
            break;
        }
        ox += nearest * dx; oy += nearest * dy; oz += nearest * dz;
        float part = 1.0f / spheres[hit].radius;
        float nx = (ox - spheres[hit].x) * part, ny = (oy - spheres[hit].y) * part, nz = (oz - spheres[hit].z) * part;
        float facing = -0.6f * ny - 0.8f * nz;
        float shine = spheres[hit].shine;
        if (facing > 0.0f) light += weight * (1.0f - shine) * facing;
        weight *= shine;
        if (weight < 0.01f) break;
        float turn = 2.0f * (dx * nx + dy * ny + dz * nz);
        dx -= turn * nx; dy -= turn * ny; dz -= turn * nz;
    }
    image[row * width + column] = light;
}
