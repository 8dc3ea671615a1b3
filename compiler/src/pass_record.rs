//! What is recorded of passes as they run: how long each takes (`LOCKSTEP_TIME`), and what it leaves (`LOCKSTEP_DUMP`).

use crate::progress::begin_stage;
use lockstep_ir::ir::Kernel;
use lockstep_ir::plan::pass_runner::Observer;
use lockstep_ir::plan::passes::Pass;
use lockstep_protocol::file_names::file_name;
use std::path::Path;
use std::time::Duration;

/// The time of each pass, and the folder that receives what it leaves.
#[derive(Debug)]
pub struct PassRecord<'a> {
    times: Vec<(&'static str, Duration)>,
    folder: Option<&'a Path>,
}

impl<'a> PassRecord<'a> {
    /// Nothing has run; dumps go to a folder if there is one.
    pub fn new(folder: Option<&'a Path>) -> PassRecord<'a> {
        PassRecord { times: Vec::new(), folder }
    }

    /// Adds to the time of a pass.
    pub fn add_time(&mut self, pass_name: &'static str, duration: Duration) {
        match self.times.iter_mut().find(|(known_name, _)| *known_name == pass_name) {
            Some((_, time)) => *time += duration,
            None => self.times.push((pass_name, duration)),
        }
    }

    /// The passes that have run, in their order, each with the time it took.
    pub fn into_times(self) -> Vec<(&'static str, Duration)> {
        self.times
    }

    /// Writes what a pass has left of a kernel, if somebody wants to see it: `KERNEL.NUMBER-PASS.KIND`.
    pub fn dump_text(
        &self,
        kernel: &str,
        pass_number: usize,
        pass_name: &str,
        extension: &str,
        make_text: impl FnOnce() -> String,
    ) {
        if let Some(folder) = self.folder {
            let path = folder.join(format!("{}.{pass_number:02}-{pass_name}.{extension}", file_name(kernel)));
            // A dump that cannot be written must not change what the application sees.
            let _ = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, make_text()));
        }
    }
}

impl Observer for PassRecord<'_> {
    fn begin_pass(&mut self, pass: &Pass, kernel: &Kernel) {
        begin_stage(pass.name, &kernel.name);
    }

    fn see_pass(&mut self, pass_number: usize, pass: &Pass, duration: Duration, kernel: &Kernel) {
        self.add_time(pass.name, duration);
        self.dump_text(&kernel.name, pass_number, pass.name, "pir", || kernel.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_one_pass_are_added_up() {
        let mut record = PassRecord::new(None);
        for (pass, milliseconds) in [("a", 1), ("b", 2), ("a", 3)] {
            record.add_time(pass, Duration::from_millis(milliseconds));
        }
        assert_eq!(record.into_times(), [("a", Duration::from_millis(4)), ("b", Duration::from_millis(2))]);
    }
}
