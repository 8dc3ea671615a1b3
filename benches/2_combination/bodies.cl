// One step of an n-body simulation: every body is pulled by every other. A group reads the bodies tile by tile into
// local memory.
kernel void nbody(global const float4 *old_positions, global float4 *positions, global const float4 *old_velocities,
                  global float4 *velocities, local float4 *tile, uint bodies, float seconds, float softening) {
    size_t i = get_global_id(0), l = get_local_id(0), items = get_local_size(0);
    float4 mine = old_positions[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (uint first = 0; first < bodies; first += items) {
        tile[l] = old_positions[first + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < items; ++k) {
            float4 other = tile[k];
            float dx = other.x - mine.x, dy = other.y - mine.y, dz = other.z - mine.z;
            float inverse = 1.0f / sqrt(dx * dx + dy * dy + dz * dz + softening);
            float pull = other.w * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float4 v = old_velocities[i];
    float half_square = 0.5f * seconds * seconds;
    positions[i] = (float4)(mine.x + v.x * seconds + ax * half_square, mine.y + v.y * seconds + ay * half_square,
                            mine.z + v.z * seconds + az * half_square, mine.w);
    velocities[i] = (float4)(v.x + ax * seconds, v.y + ay * seconds, v.z + az * seconds, v.w);
}
