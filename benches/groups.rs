//! Kernels with work-groups on several drivers, side by side, on all the machine's threads, and what the machine allows.

use std::process::ExitCode;

use lockstep_benches::compare::Configuration;
use lockstep_benches::drivers::{self, Table};
use lockstep_benches::groups::GROUPS;

fn main() -> ExitCode {
    let cases = GROUPS.iter().map(|group| &group.case).collect();
    drivers::run(Table { name: "bench-groups", cases, more: |_| Configuration::limits().to_vec(), wanted: 1.0 })
}
