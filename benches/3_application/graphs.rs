//! Breadth-first search in two patterns of access (Fukuhara & Takimoto 2021).

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, step};

/// The kernel.
pub const SOURCE: &str = include_str!("graphs.cl");

const NODES: usize = 1 << 14;
/// Nodes of a work-item.
const EACH: usize = 4;

/// Neighbouring work-items at neighbouring nodes.
pub fn breadth_first() -> Problem {
    search(1, NODES / EACH)
}

/// Each work-item with nodes beside each other.
pub fn breadth_first_rows() -> Problem {
    search(EACH, 1)
}

fn search(first: usize, next: usize) -> Problem {
    let mut random = Random::new(1);
    let mut starts = vec![0_i32];
    let mut edges: Vec<i32> = Vec::new();
    for _ in 0..NODES {
        edges.extend((0..random.below(9)).map(|_| random.below(NODES) as i32));
        starts.push(edges.len() as i32);
    }
    let mut levels = vec![-1_i32; NODES];
    levels[0] = 0;
    // The first node must lead somewhere.
    let from = (0..NODES).find(|&node| starts[node + 1] - starts[node] > 4).expect("half of all nodes have so many");
    levels.swap(0, from);
    let mut want = levels.clone();
    let mut frontier = vec![from];
    let mut depth = 0;
    while !frontier.is_empty() {
        depth += 1;
        let mut new = Vec::new();
        for node in frontier {
            for &other in &edges[starts[node] as usize..starts[node + 1] as usize] {
                if want[other as usize] < 0 {
                    want[other as usize] = depth;
                    new.push(other as usize);
                }
            }
        }
        frontier = new;
    }
    let launch = |level: i32| {
        let arguments = args![b 0, b 1, b 2, v (level), v (EACH as i32), v (first as i32), v (next as i32)];
        step("breadth_first", &[NODES / EACH], &[], arguments)
    };
    Problem {
        buffers: vec![Data::of(&starts), Data::of(&edges), Data::in_place(&levels)],
        steps: (0..depth).map(launch).collect(),
        check: Box::new(move |outcome| outcome.same(2, &want)),
    }
}
