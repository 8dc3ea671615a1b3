//! One line at the start of every long step, one with its time at the end.

use std::io::Write;
use std::time::Instant;

/// A step under way. Dropping it without [`Step::done`] prints nothing more:
/// the error that ended it is the better last line.
pub struct Step {
    name: String,
    start: Instant,
}

/// Announces a step.
pub fn step(name: impl Into<String>) -> Step {
    let name = name.into();
    println!("==> {name}");
    flush();
    Step { name, start: Instant::now() }
}

impl Step {
    /// Says that the step has ended well, and how long it took.
    pub fn done(self) {
        println!("    {}: done in {:.1} s", self.name, self.start.elapsed().as_secs_f64());
        flush();
    }
}

// Output may go to a file or a pipe, where children's lines would overtake ours.
fn flush() {
    // A closed standard output must not end the command itself.
    let _ = std::io::stdout().flush();
}
