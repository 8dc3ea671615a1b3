//! The papers' tables and the peers, side by side: see `lockstep_benches::evidence`.

use std::process::ExitCode;

fn main() -> ExitCode {
    lockstep_benches::evidence::run()
}
