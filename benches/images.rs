//! Kernels that read and write images on several drivers, side by side, on all the machine's threads.

use std::process::ExitCode;

use lockstep_benches::drivers::{self, Table};
use lockstep_benches::images::{IMAGES, WANTED};

fn main() -> ExitCode {
    drivers::run(Table { name: "bench-images", cases: IMAGES.iter().collect(), more: |_| Vec::new(), wanted: WANTED })
}
