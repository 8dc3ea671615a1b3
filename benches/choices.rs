//! What the driver's choice of width, layout and passes loses to the best one: see `lockstep_benches::choices`.

use std::process::ExitCode;

fn main() -> ExitCode {
    lockstep_benches::choices::measure_choices()
}
