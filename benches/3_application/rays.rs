//! A ray tracer: loops that work-items leave at different times, with unlike work in each round.

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// The kernel.
pub const SOURCE: &str = include_str!("rays.cl");
const BOUNCES: i32 = 5;

/// Twenty spheres.
pub fn trace_rays() -> Problem {
    const WIDTH: usize = 384;
    const HEIGHT: usize = 256;
    let numbers = floats(1, 5 * 20, 0.0, 1.0);
    let sphere = |n: &[f32]| [4.0 * n[0] - 2.0, 3.0 * n[1] - 1.5, 3.0 * n[2], 0.2 + 0.4 * n[3], 0.8 * n[4]];
    let spheres: Vec<[f32; 5]> = numbers.chunks_exact(5).map(sphere).collect();
    let light = |i: usize| {
        let (column, row) = ((i % WIDTH) as f32 + 0.5, (i / WIDTH) as f32 + 0.5);
        let (width, height) = (WIDTH as f32, HEIGHT as f32);
        traced(&spheres, [(column - 0.5 * width) / height, (row - 0.5 * height) / height, 1.0])
    };
    let want: Vec<f32> = (0..WIDTH * HEIGHT).map(light).collect();
    let arguments = args![b 0, b 1, v (spheres.len() as i32), v (BOUNCES)];
    Problem {
        buffers: vec![Data::room::<f32>(WIDTH * HEIGHT), Data::of(&spheres)],
        steps: vec![step("trace_rays", &[WIDTH, HEIGHT], &[], arguments)],
        check: Box::new(move |outcome| {
            // A ray that just hits or misses a sphere goes another way after the least rounding.
            let got = outcome.values::<f32>(0);
            let right = got.iter().zip(&want).filter(|(a, b)| (*a - *b).abs() < 1e-2).count();
            let (differ, few) = (WIDTH * HEIGHT - right, WIDTH * HEIGHT / 200);
            if differ <= few { Ok(()) } else { Err(format!("{differ} pixels differ, more than {few}")) }
        }),
    }
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn traced(spheres: &[[f32; 5]], towards: [f32; 3]) -> f32 {
    let mut origin = [0.0, 0.0, -4.0];
    let length = 1.0 / dot(towards, towards).sqrt();
    let mut way = towards.map(|d| d * length);
    let (mut light, mut weight) = (0.0, 1.0);
    for _ in 0..BOUNCES {
        let distance = |s: &[f32; 5]| {
            let centre = [0, 1, 2].map(|k| s[k] - origin[k]);
            let along = dot(centre, way);
            let inside = s[3] * s[3] - (dot(centre, centre) - along * along);
            (inside > 0.0).then(|| along - inside.sqrt()).filter(|&distance| distance > 1e-3)
        };
        let hits = spheres.iter().filter_map(|sphere| Some((distance(sphere)?, sphere)));
        let Some((nearest, sphere)) = hits.min_by(|a, b| a.0.total_cmp(&b.0)) else {
            return light + weight * (0.5 - 0.5 * way[1]);
        };
        origin = [0, 1, 2].map(|k| origin[k] + nearest * way[k]);
        let normal = [0, 1, 2].map(|k| (origin[k] - sphere[k]) / sphere[3]);
        let facing = -0.6 * normal[1] - 0.8 * normal[2];
        light += weight * (1.0 - sphere[4]) * f32::max(facing, 0.0);
        weight *= sphere[4];
        if weight < 0.01 {
            break;
        }
        let turn = 2.0 * dot(way, normal);
        way = [0, 1, 2].map(|k| way[k] - turn * normal[k]);
    }
    light
}
