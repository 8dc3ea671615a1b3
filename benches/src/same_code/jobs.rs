//! What is compiled by each build: jobs, a line of text each for the child that does them.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::suite;

/// Generated kernels in all.
pub const GENERATED: u64 = 500;
/// Generated kernels of one source, so that clang is not started for each.
pub const PER_SOURCE: u64 = 25;

/// A few kernels to compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job {
    /// A case of the suite.
    Suite(&'static str),
    /// So many generated kernels, from this seed on.
    Generated(u64),
    /// A kept program; whether code is made for most launches, or for nearly all.
    Program {
        /// The file of its source, as the tests kept it.
        path: PathBuf,
        /// For most launches: what is done where a cache outlives the process.
        for_most: bool,
    },
}

impl Job {
    /// All jobs, with the programs of a folder, of which the names contain one of these parts if there are any.
    pub fn collect_all(programs: &Path, only: &[String]) -> Result<Vec<Self>, String> {
        let cases = suite::all().into_iter().map(|case| Self::Suite(case.name));
        let generated = (0..GENERATED).step_by(PER_SOURCE as usize).map(Self::Generated);
        let files =
            std::fs::read_dir(programs).map_err(|error| format!("cannot read {}: {error}", programs.display()))?;
        let mut files: Vec<PathBuf> = files.flatten().map(|entry| entry.path()).collect();
        files.sort();
        let both = |path: PathBuf| [true, false].map(|for_most| Self::Program { path: path.clone(), for_most });
        let jobs = cases.chain(generated).chain(files.into_iter().flat_map(both));
        let wanted = |job: &Self| only.is_empty() || only.iter().any(|part| job.to_string().contains(part.as_str()));
        let jobs: Vec<Self> = jobs.filter(wanted).collect();
        if jobs.is_empty() { Err(format!("nothing is called so: {}", only.join(", "))) } else { Ok(jobs) }
    }

    /// The line that tells the child.
    pub fn command_line(&self) -> String {
        match self {
            Self::Suite(name) => format!("suite {name}"),
            Self::Generated(seed) => format!("generated {seed}"),
            Self::Program { path, .. } => format!("program {}", path.display()),
        }
    }

    /// Whether it is done in a process whose cache outlives it.
    pub fn has_cache(&self) -> bool {
        matches!(self, Self::Program { for_most: true, .. })
    }

    /// Its name as part of a path.
    pub fn file_name(&self) -> String {
        self.to_string().replace([' ', '/'], "-")
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Suite(name) => write!(f, "suite {name}"),
            Self::Generated(seed) => write!(f, "generated {seed}"),
            Self::Program { path, for_most } => {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                write!(f, "program {name}{}", if *for_most { "" } else { " general" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_chosen_by_parts_of_their_names() {
        let folder = std::env::temp_dir().join(format!("lockstep-jobs-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("made");
        std::fs::write(folder.join("00ff.cl"), "").expect("written");
        let all = Job::collect_all(&folder, &[]).expect("there are jobs");
        let count = |wanted: fn(&Job) -> bool| all.iter().filter(|job| wanted(job)).count();
        assert_eq!(count(|job| matches!(job, Job::Generated(_))) as u64 * PER_SOURCE, GENERATED);
        assert_eq!(count(|job| matches!(job, Job::Suite(_))), suite::all().len());
        let of_file = Job::collect_all(&folder, &["00ff".to_owned()]).expect("there are jobs");
        let names: Vec<String> = of_file.iter().map(Job::to_string).collect();
        assert_eq!(names, ["program 00ff", "program 00ff general"]);
        assert_eq!(of_file.iter().map(Job::has_cache).collect::<Vec<_>>(), [true, false]);
        assert!(Job::collect_all(&folder, &["no such case".to_owned()]).is_err());
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
