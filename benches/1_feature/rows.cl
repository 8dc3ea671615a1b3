// Products of all rows of a matrix with each other, each summed up in its place: neighbours read a row apart, and what is
// written could be what is read.
kernel void row_products(global const float *a, global float *products, int rows, int length) {
    int j = get_global_id(0);
    int i = get_global_id(1);
    products[i * rows + j] = 0.0f;
    for (int k = 0; k < length; ++k) products[i * rows + j] += a[i * length + k] * a[j * length + k];
}

// Steps of bodies that are structures of sixteen floats, thirteen of which change.
typedef struct {
    float4 position, velocity, force, rest;
} Body;

kernel void body_steps(global const Body *bodies, global Body *moved, float time) {
    size_t i = get_global_id(0);
    Body body = bodies[i];
    float drag = dot(body.velocity, body.velocity) * body.rest.x;
    float mass = body.position.w + body.rest.y * body.force.w;
    body.force -= body.velocity * drag;
    body.velocity += body.force * (time / mass);
    body.position += body.velocity * time;
    body.rest.z += drag * time;
    moved[i] = body;
}

// Structures of four floats, read through a table of indices.
kernel void points(global const float4 *table, global const uint *indices, global float4 *out) {
    size_t i = get_global_id(0);
    float4 sum = 0.0f;
    for (int k = 0; k < 4; ++k) sum += table[indices[i + k * get_global_size(0)]];
    out[i] = sum;
}
