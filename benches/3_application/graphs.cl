// Breadth-first search, a level per launch: whoever is on the frontier puts neighbours that nobody has seen on the next
// one. A work-item has `each` nodes, `next` apart, the first ones of neighbours `first` apart.
kernel void breadth_first(global const int *starts, global const int *edges, global int *levels, int level, int each,
                          int first, int next) {
    int node = get_global_id(0) * first;
    for (int k = 0; k < each; ++k, node += next) {
        if (levels[node] != level) continue;
        for (int e = starts[node]; e < starts[node + 1]; ++e) {
            int other = edges[e];
            if (levels[other] < 0) levels[other] = level + 1;
        }
    }
}
