//! Programs whose functions call each other so often that not everything can be inlined.

use lockstep_conformance::{Setup, arguments, read, run};

/// Functions of which each calls the one before it in one of two places, and a kernel that calls the last of them. The first one
/// counts its calls in two words of the work-item's own.
fn tree(depth: i32) -> String {
    let mut source = "int f0(int x, int seed, global int *out) {
        out[get_global_id(0) * 2 + (x & 1)] += 1;
        return x ^ (seed * 7);
    }\n"
    .to_owned();
    for level in 1..=depth {
        let (below, bit) = (level - 1, level % 5);
        source += &format!(
            "int f{level}(int x, int seed, global int *out) {{
                int sum = x + {level};
                if (x >> {bit} & 1) sum += f{below}(x * 3 + seed, seed + {level}, out);
                else sum ^= f{below}(x - seed, seed * 5, out);
                return sum;
            }}\n"
        );
    }
    source
        + &format!(
            "kernel void k(global int *a, global int *out) {{
                int i = get_global_id(0);
                out[2 * i] = out[2 * i + 1] = 0;
                int sum = 0;
                for (int round = 0; round <= (a[i] & 3); ++round) sum += f{depth}(a[i] + round, i, out);
                a[i] = sum;
            }}"
        )
}

/// What the function of a level gives, and which of the two words it counts in.
fn value_of(level: i32, x: i32, seed: i32) -> (i32, usize) {
    if level == 0 {
        return (x ^ seed.wrapping_mul(7), (x & 1) as usize);
    }
    let sum = x.wrapping_add(level);
    if x >> (level % 5) & 1 != 0 {
        let (below, word) = value_of(level - 1, x.wrapping_mul(3).wrapping_add(seed), seed.wrapping_add(level));
        (sum.wrapping_add(below), word)
    } else {
        let (below, word) = value_of(level - 1, x.wrapping_sub(seed), seed.wrapping_mul(5));
        (sum ^ below, word)
    }
}

/// Launches the kernel of a tree over a range and compares.
#[track_caller]
fn check(depth: i32, options: &str, ranges: &[(usize, usize)]) {
    let setup = Setup::new();
    let kernel = setup.context.build(&tree(depth), options).kernel("k");
    for &(global, local) in ranges {
        let start: Vec<i32> = (0..global as i32).map(|item| item.wrapping_mul(265_443_577)).collect();
        let (numbers, counts) = (setup.context.with_values(&start), setup.context.zeros::<i32>(2 * global));
        kernel.set_all(arguments![&numbers, &counts]);
        run(&setup.queue, &kernel, &[global], &[local]);
        let (mut expected, mut expected_counts) = (Vec::new(), vec![0; 2 * global]);
        for (item, &x) in start.iter().enumerate() {
            let mut total = 0_i32;
            for round in 0..=(x & 3) {
                let (value, word) = value_of(depth, x.wrapping_add(round), item as i32);
                total = total.wrapping_add(value);
                expected_counts[2 * item + word] += 1;
            }
            expected.push(total);
        }
        assert_eq!(read::<i32>(&setup.queue, &numbers), expected, "depth {depth}, {global} by {local}");
        assert_eq!(read::<i32>(&setup.queue, &counts), expected_counts, "depth {depth}, {global} by {local}");
    }
}

#[test]
fn trees_of_calls_of_any_depth() {
    for depth in [3, 10, 14, 18, 26, 60] {
        check(depth, "", &[(150, 25)]);
    }
}

/// Code for one launch is made when the program is built, that for others later, of its portable form.
#[test]
fn every_launch_finds_the_functions() {
    check(20, "", &[(150, 25), (64, 64), (128, 16), (33, 11), (7, 1)]);
}

#[test]
fn options_of_the_build() {
    for options in ["-cl-opt-disable", "-g", "-cl-fast-relaxed-math", "-cl-std=CL1.2"] {
        check(18, options, &[(70, 35)]);
    }
}
