// One pass of Floyd's and Warshall's shortest paths: may the way from y to x go through `via`?
kernel void floyd_warshall_pass(global uint *distance, global uint *through, uint nodes, uint via) {
    uint x = get_global_id(0), y = get_global_id(1);
    uint old = distance[y * nodes + x];
    uint other = distance[y * nodes + via] + distance[via * nodes + x];
    if (other < old) {
        distance[y * nodes + x] = other;
        through[y * nodes + x] = via;
    }
}
