//! The `native_` and `half_` forms of math functions on several drivers, side by side, and beside the plain functions.

use std::process::ExitCode;

use lockstep_benches::drivers::{self, Table};
use lockstep_benches::math::FORMS;

fn main() -> ExitCode {
    let cases = FORMS.iter().collect();
    drivers::run(Table { name: "bench-forms", cases, more: |first| vec![first.with_plain_functions()], wanted: 1.0 })
}
