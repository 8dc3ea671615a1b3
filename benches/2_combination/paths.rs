//! FloydWarshall of Karrenberg & Hack 2012, Table 1.

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, step};

/// The kernel.
pub const SOURCE: &str = include_str!("paths.cl");

/// All shortest paths of a graph with 160 nodes, a launch per node.
pub fn floyd_warshall() -> Problem {
    paths_of(160, 160)
}

/// The first passes over a graph with 2,048 nodes, whose two matrices take 32 MiB.
pub fn floyd_warshall_large() -> Problem {
    paths_of(2048, 6)
}

fn paths_of(nodes: usize, passes: usize) -> Problem {
    let mut random = Random::new(1);
    let mut distance: Vec<u32> = (0..nodes * nodes).map(|_| random.between(1, 200) as u32).collect();
    (0..nodes).for_each(|node| distance[node * nodes + node] = 0);
    let through = vec![0_u32; nodes * nodes];
    let (mut want, mut want_through) = (distance.clone(), through.clone());
    for via in 0..passes {
        for at in 0..nodes * nodes {
            let other = want[at / nodes * nodes + via] + want[via * nodes + at % nodes];
            if other < want[at] {
                want[at] = other;
                want_through[at] = via as u32;
            }
        }
    }
    let pass =
        |via| step("floyd_warshall_pass", &[nodes, nodes], &[32, 8], args![b 0, b 1, v (nodes as u32), v (via as u32)]);
    Problem {
        buffers: vec![Data::in_place(&distance), Data::in_place(&through)],
        steps: (0..passes).map(pass).collect(),
        check: Box::new(move |outcome| {
            outcome.same(0, &want)?;
            outcome.same(1, &want_through)
        }),
    }
}
