//! How long the stages of building a program and of compiling a kernel take (`LOCKSTEP_TIME`).

use std::time::{Duration, Instant};

/// Times stages that follow each other.
#[derive(Debug)]
pub struct Stopwatch {
    times: Vec<(&'static str, Duration)>,
    since: Instant,
}

impl Stopwatch {
    /// Begins the first stage.
    pub fn start() -> Stopwatch {
        Stopwatch { times: Vec::new(), since: Instant::now() }
    }

    /// Ends a stage and begins the next one.
    pub fn end_stage(&mut self, stage_name: &'static str) {
        self.times.push((stage_name, self.since.elapsed()));
        self.since = Instant::now();
    }

    /// Begins the current stage anew: what was done since the last one ended is no part of any stage.
    pub fn restart_stage(&mut self) {
        self.since = Instant::now();
    }

    /// The stages that have ended, in their order.
    pub fn times(&self) -> &[(&'static str, Duration)] {
        &self.times
    }

    /// The stages that have ended, in their order, each with the time it took.
    pub fn into_times(self) -> Vec<(&'static str, Duration)> {
        self.times
    }
}

/// The stages of a program or kernel of this name, a line each, in milliseconds.
pub fn describe_times(name: &str, stage_times: &[(&'static str, Duration)]) -> String {
    let describe_stage = |&(stage_name, duration): &(&str, Duration)| {
        format!("{name}: {stage_name} {:.1} ms\n", duration.as_secs_f64() * 1e3)
    };
    stage_times.iter().map(describe_stage).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stage_is_a_line_in_milliseconds() {
        let times = [("import", Duration::from_micros(1_500)), ("linearize", Duration::from_secs(2))];
        assert_eq!(describe_times("k", &times), "k: import 1.5 ms\nk: linearize 2000.0 ms\n");
    }
}
