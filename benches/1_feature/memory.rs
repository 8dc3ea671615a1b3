//! Whether memory grows over many rounds of building, launching and releasing a program.

use lockstep_benches::command_line::read_rounds;
use lockstep_benches::line;
use lockstep_conformance::{Setup, run};

const SOURCE: &str = "kernel void twice(global int *data) {\n\
                      \x20   local int shared[16];\n\
                      \x20   shared[get_local_id(0)] = data[get_global_id(0)];\n\
                      \x20   barrier(CLK_LOCAL_MEM_FENCE);\n\
                      \x20   data[get_global_id(0)] = 2 * shared[get_local_id(0)];\n\
                      }\n";

fn main() {
    let rounds = read_rounds(10_000);
    let every = (rounds / 10).max(1);
    let mut first = None;
    for round in 1..=rounds {
        one_round();
        if round % every == 0 {
            let now = resident();
            // The first tenth fills the allocator's pools and the driver's own.
            let start = *first.get_or_insert((round, now));
            let grown = now as f64 - start.1 as f64;
            let since = (round - start.0).max(1) as f64;
            line(
                &format!("resident after {round} rounds"),
                format_args!(
                    "{:>9} KiB   ({:+.3} KiB a round since {})",
                    now,
                    if round == start.0 { 0.0 } else { grown / since },
                    start.0
                ),
            );
        }
    }
}

fn one_round() {
    let setup = Setup::new();
    let data = setup.context.with_values(&[21_i32; 64]);
    let kernel = setup.context.kernel(SOURCE, "twice");
    kernel.set(0, &data);
    run(&setup.queue, &kernel, &[64], &[16]);
}

/// This process's resident memory in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has /proc");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a process has memory");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number of KiB")
}
