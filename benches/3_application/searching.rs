//! Searches: the bisection of XSBench, a binary tree, point correlation and nearest neighbours in a k-d tree (Moll 2021,
//! chapter 13).

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// The kernels.
pub const SOURCE: &str = include_str!("searching.cl");

/// Bisection in 16 Ki energies, and interpolation.
pub fn cross_sections() -> Problem {
    const POINTS: usize = 1 << 14;
    const LOOKUPS: usize = 1 << 16;
    let grid: Vec<f32> = (0..POINTS).map(|i| (i * i) as f32 / (1 << 20) as f32).collect();
    let sections = floats(1, 5 * POINTS, 0.0, 1.0);
    let energies = floats(2, LOOKUPS, grid[0], grid[POINTS - 1]);
    let want: Vec<f32> = energies
        .iter()
        .map(|&energy| {
            let low = (grid.partition_point(|&point| point <= energy) - 1).min(POINTS - 2);
            let part = (energy - grid[low]) / (grid[low + 1] - grid[low]);
            let between = |k: usize| sections[5 * low + k] + part * (sections[5 * low + 5 + k] - sections[5 * low + k]);
            (0..5).map(between).sum()
        })
        .collect();
    Problem {
        buffers: vec![Data::of(&grid), Data::of(&sections), Data::of(&energies), Data::room::<f32>(LOOKUPS)],
        steps: vec![step("cross_sections", &[LOOKUPS], &[], args![b 0, b 1, b 2, b 3, v (POINTS as i32)])],
        check: Box::new(move |outcome| outcome.close(3, &want, 1e-4)),
    }
}

/// Keys of which half are in a random binary tree.
pub fn tree_search() -> Problem {
    const NODES: usize = 1 << 12;
    const LOOKUPS: usize = 1 << 15;
    let mut random = Random::new(3);
    let keys: Vec<f32> = (0..NODES).map(|_| random.below(1 << 20) as f32).collect();
    let mut children = vec![[-1_i32; 2]; NODES];
    for new in 1..NODES {
        let mut at = 0;
        loop {
            let side = usize::from(keys[new] >= keys[at]);
            match children[at][side] {
                -1 => break children[at][side] = new as i32,
                child => at = child as usize,
            }
        }
    }
    let nodes: Vec<[i32; 3]> =
        keys.iter().zip(&children).map(|(key, [left, right])| [key.to_bits() as i32, *left, *right]).collect();
    let lookups: Vec<f32> = (0..LOOKUPS)
        .map(|_| if random.below(2) == 0 { keys[random.below(NODES)] } else { random.below(1 << 20) as f32 })
        .collect();
    let find = |&key: &f32| {
        let mut at = 0;
        while at >= 0 && keys[at as usize] != key {
            at = children[at as usize][usize::from(key >= keys[at as usize])];
        }
        at
    };
    let want: Vec<i32> = lookups.iter().map(find).collect();
    Problem {
        buffers: vec![Data::of(&nodes), Data::of(&lookups), Data::room::<i32>(LOOKUPS)],
        steps: vec![step("tree_search", &[LOOKUPS], &[], args![b 0, b 1, b 2]); 2],
        check: Box::new(move |outcome| outcome.same(2, &want)),
    }
}

/// Points near others, of 4,095 in a complete k-d tree.
pub fn point_correlation() -> Problem {
    const SIZE: usize = 1 << 12;
    const CENTRES: usize = 1 << 13;
    const RADIUS: f32 = 0.0625;
    let (mut points, centres) = points_and_centres(SIZE - 1, CENTRES);
    let near = |c: &[f32; 2]| {
        let within = |p: &&[f32; 2]| (p[0] - c[0]).powi(2) + (p[1] - c[1]).powi(2) <= RADIUS * RADIUS;
        points.iter().filter(within).count() as i32
    };
    let want: Vec<i32> = centres.iter().map(near).collect();
    let mut tree = vec![[0.0; 2]; SIZE];
    grow(&mut tree, 1, &mut points);
    Problem {
        buffers: vec![Data::of(&tree), Data::of(&centres), Data::room::<i32>(CENTRES)],
        steps: vec![step("point_correlation", &[CENTRES], &[], args![b 0, b 1, b 2, v (SIZE as i32), v (RADIUS)])],
        check: Box::new(move |outcome| outcome.same(2, &want)),
    }
}

/// The nearest of 4,095 points in a complete k-d tree.
pub fn nearest_neighbour() -> Problem {
    const SIZE: usize = 1 << 12;
    const CENTRES: usize = 1 << 13;
    let (mut points, centres) = points_and_centres(SIZE - 1, CENTRES);
    let square = |c: &[f32; 2], p: &[f32; 2]| (p[0] - c[0]).powi(2) + (p[1] - c[1]).powi(2);
    let want: Vec<f32> =
        centres.iter().map(|c| points.iter().map(|p| square(c, p)).fold(f32::INFINITY, f32::min)).collect();
    let mut tree = vec![[0.0; 2]; SIZE];
    grow(&mut tree, 1, &mut points);
    Problem {
        buffers: vec![Data::of(&tree), Data::of(&centres), Data::room::<f32>(CENTRES)],
        steps: vec![step("nearest_neighbour", &[CENTRES], &[], args![b 0, b 1, b 2, v (SIZE as i32)])],
        check: Box::new(move |outcome| outcome.same(2, &want)),
    }
}

/// Places in the unit square, in whole multiples of a power of two so that no distance is rounded.
fn points_and_centres(points: usize, centres: usize) -> (Vec<[f32; 2]>, Vec<[f32; 2]>) {
    let mut random = Random::new(4);
    let mut point = || [0, 1].map(|_| random.below(1 << 10) as f32 / (1 << 10) as f32);
    let points = (0..points).map(|_| point()).collect();
    let mut centres: Vec<[f32; 2]> = (0..centres).map(|_| point()).collect();
    // Neighbouring work-items ask for places near each other, as sorted input does.
    centres.sort_by(|a, b| (a[0] * 16.0).floor().total_cmp(&(b[0] * 16.0).floor()).then(a[1].total_cmp(&b[1])));
    (points, centres)
}

/// Puts the middle one of these points at this node, and the halves below it.
fn grow(tree: &mut [[f32; 2]], node: usize, points: &mut [[f32; 2]]) {
    if points.is_empty() {
        return;
    }
    let axis = node.ilog2() as usize % 2;
    let middle = points.len() / 2;
    points.select_nth_unstable_by(middle, |a, b| a[axis].total_cmp(&b[axis]));
    tree[node] = points[middle];
    let (low, rest) = points.split_at_mut(middle);
    grow(tree, 2 * node, low);
    grow(tree, 2 * node + 1, &mut rest[1..]);
}
