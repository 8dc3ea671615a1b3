//! Math functions on several drivers, side by side: kernels that compute little else.

use std::process::ExitCode;

use lockstep_benches::drivers::{self, Table};
use lockstep_benches::math::{FUNCTIONS, WANTED};

fn main() -> ExitCode {
    drivers::run(Table { name: "bench-math", cases: FUNCTIONS.iter().collect(), more: |_| Vec::new(), wanted: WANTED })
}
