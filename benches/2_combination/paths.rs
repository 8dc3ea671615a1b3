//! FloydWarshall of Karrenberg & Hack 2012, Table 1.

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, step};

/// The kernel.
pub const SOURCE: &str = include_str!("paths.cl");

/// All shortest paths of a graph with 160 nodes, a launch per node.
pub fn floyd_warshall() -> Problem {
    const NODES: usize = 160;
    let mut random = Random::new(1);
    let mut distance: Vec<u32> = (0..NODES * NODES).map(|_| random.between(1, 200) as u32).collect();
    (0..NODES).for_each(|node| distance[node * NODES + node] = 0);
    let through = vec![0_u32; NODES * NODES];
    let (mut want, mut want_through) = (distance.clone(), through.clone());
    for via in 0..NODES {
        for at in 0..NODES * NODES {
            let other = want[at / NODES * NODES + via] + want[via * NODES + at % NODES];
            if other < want[at] {
                want[at] = other;
                want_through[at] = via as u32;
            }
        }
    }
    let pass =
        |via| step("floyd_warshall_pass", &[NODES, NODES], &[32, 8], args![b 0, b 1, v (NODES as u32), v (via as u32)]);
    Problem {
        buffers: vec![Data::in_place(&distance), Data::in_place(&through)],
        steps: (0..NODES).map(pass).collect(),
        check: Box::new(move |outcome| {
            outcome.same(0, &want)?;
            outcome.same(1, &want_through)
        }),
    }
}
