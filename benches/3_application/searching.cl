// Searches whose way depends on what is found.

// The kernel of a Monte Carlo neutron transport code: finds a particle's energy in a sorted grid by bisection, and
// interpolates five cross-sections between the two nearest points.
kernel void cross_sections(global const float *grid, global const float *sections, global const float *energies,
                           global float *out, int points) {
    size_t i = get_global_id(0);
    float energy = energies[i];
    int low = 0, high = points - 1;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (grid[middle] > energy) high = middle;
        else low = middle;
    }
    float part = (energy - grid[low]) / (grid[low + 1] - grid[low]);
    float sum = 0.0f;
    for (int k = 0; k < 5; ++k) {
        float below = sections[low * 5 + k], above = sections[low * 5 + 5 + k];
        sum += below + part * (above - below);
    }
    out[i] = sum;
}

typedef struct { float key; int left, right; } Node;

// Looks for a key in a binary tree: the loop ends where the key is found or where the tree ends.
kernel void tree_search(global const Node *nodes, global const float *keys, global int *found) {
    size_t i = get_global_id(0);
    float key = keys[i];
    int at = 0, answer = -1;
    while (at >= 0) {
        float here = nodes[at].key;
        if (here == key) {
            answer = at;
            break;
        }
        at = key < here ? nodes[at].left : nodes[at].right;
    }
    found[i] = answer;
}

// How many of the points in a k-d tree of two dimensions lie within a radius: a stack of sub-trees still to visit.
kernel void point_correlation(global const float2 *points, global const float2 *centres, global int *counts, int size,
                              float radius) {
    size_t i = get_global_id(0);
    float2 centre = centres[i];
    int stack[32];
    int top = 0, count = 0;
    stack[top++] = 1;
    while (top > 0) {
        int node = stack[--top];
        // The tree is complete: a node's children are at twice its place, and its level says which axis divides.
        float2 point = points[node];
        float dx = point.x - centre.x, dy = point.y - centre.y;
        if (dx * dx + dy * dy <= radius * radius) ++count;
        int level = 31 - clz(node);
        float ahead = level % 2 == 0 ? dx : dy;
        if (2 * node < size) {
            if (ahead >= -radius) stack[top++] = 2 * node;
            if (ahead <= radius) stack[top++] = 2 * node + 1;
        }
    }
    counts[i] = count;
}

// The square of the distance from each centre to the nearest point of the same tree: sub-trees that are too far away
// when their turn comes are left out, and the side on which the centre lies comes first.
kernel void nearest_neighbour(global const float2 *points, global const float2 *centres, global float *squares,
                              int size) {
    size_t i = get_global_id(0);
    float2 centre = centres[i];
    int nodes[32];
    float bounds[32];
    int top = 0;
    float least = INFINITY;
    nodes[top] = 1;
    bounds[top++] = 0.0f;
    while (top > 0) {
        int node = nodes[--top];
        if (bounds[top] >= least) continue;
        float2 point = points[node];
        float dx = point.x - centre.x, dy = point.y - centre.y;
        least = fmin(least, dx * dx + dy * dy);
        if (2 * node < size) {
            int level = 31 - clz(node);
            float ahead = level % 2 == 0 ? dx : dy;
            int near = ahead < 0.0f;
            nodes[top] = 2 * node + 1 - near;
            bounds[top++] = ahead * ahead;
            nodes[top] = 2 * node + near;
            bounds[top++] = 0.0f;
        }
    }
    squares[i] = least;
}
