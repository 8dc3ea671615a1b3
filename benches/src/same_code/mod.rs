//! Which kernels' machine code another build of the driver makes otherwise.
//!
//! The kernels are those of the suite, launched as it launches them; generated ones full of jumps; and those of programs
//! kept in a folder, for the launches that are likely. Both builds compile the same texts in processes of their own and
//! write the assembly as `LOCKSTEP_DUMP` makes every build do, so neither needs to know about the comparison.

pub mod assembly;
pub mod child;
pub mod jobs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::compare::{Clock, Configuration, Team};
use assembly::Texts;
use jobs::Job;

/// How long one job may take: a program of the tests has hundreds of kernels.
const PATIENCE: Duration = Duration::from_secs(300);

/// A build of the driver under comparison.
struct Build {
    /// Whether its program cache outlives the process decides for which launches code is made ahead, so there is one
    /// process with a cache and one without.
    with_cache: Team,
    without_cache: Team,
    /// The folder of the assembly it has written.
    folder: PathBuf,
}

impl Build {
    /// A build by what the ICD loader has to be told, writing into a folder of its own.
    fn new(vendors: &str, folder: &Path) -> Result<Self, String> {
        // What an earlier comparison left is not this one's.
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        let team = |cache: &Path| {
            let mut driver = Configuration::driver(&format!("build={vendors}"))?;
            let pairs = [
                ("LOCKSTEP_DUMP", child::dump_folder(folder).display().to_string()),
                ("LOCKSTEP_CACHE", cache.display().to_string()),
                // One thread compiles one kernel after the other.
                ("LOCKSTEP_THREADS", "1".to_owned()),
                (child::FOLDER, folder.display().to_string()),
            ];
            driver.environment.extend(pairs.map(|(name, value)| (name.to_owned(), value)));
            Ok::<Team, String>(Team::new(vec![driver], Clock::Event).patience(PATIENCE))
        };
        Ok(Self {
            with_cache: team(&folder.join("cache"))?,
            without_cache: team(Path::new("off"))?,
            folder: folder.to_owned(),
        })
    }

    /// Has the build compile a job's kernels.
    fn compile(&mut self, job: &Job) -> Result<Texts, String> {
        let team = if job.has_cache() { &mut self.with_cache } else { &mut self.without_cache };
        let answer = team.ask_all(&job.command_line(), "compiled").pop().expect("each team has one driver");
        let texts = assembly::take_texts(&child::kept_folder(&self.folder))?;
        // A child that ended early leaves what the next job must not count.
        let _ = assembly::empty_folder(&child::dump_folder(&self.folder));
        answer.map(|_| texts)
    }
}

/// What a comparison found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// How many kernels were compared.
    pub kernels: usize,
    /// The kernels whose code differs, as `JOB: KERNEL`, with what differs.
    pub differing: Vec<String>,
    /// What could not be compared.
    pub errors: Vec<String>,
}

impl Comparison {
    /// Compares two builds, each given by what the ICD loader has to be told, in all jobs; differing texts stay in the
    /// folder.
    pub fn of_builds(builds: [&str; 2], jobs: &[Job], folder: &Path) -> Result<Self, String> {
        let [mut this, mut other] =
            [Build::new(builds[0], &folder.join("this"))?, Build::new(builds[1], &folder.join("base"))?];
        let kept = folder.join("differing");
        let _ = std::fs::remove_dir_all(&kept);
        let mut found = Self::default();
        for job in jobs {
            let (this, other) = std::thread::scope(|scope| {
                let this = scope.spawn(|| this.compile(job));
                let other = other.compile(job);
                (this.join().expect("a comparison does not panic"), other)
            });
            found.add(job, this, other, &kept);
        }
        Ok(found)
    }

    /// Adds what two builds made of a job.
    fn add(&mut self, job: &Job, this: Result<Texts, String>, other: Result<Texts, String>, kept: &Path) {
        let (this, other) = match (this, other) {
            (Ok(this), Ok(other)) => (this, other),
            // What neither build can do is no difference between them.
            (Err(this), Err(other)) if this == other => return println!("{job}: {this} (both builds)"),
            (this, other) => {
                let said = |made: Result<Texts, String>| made.err().unwrap_or_else(|| "is compiled".to_owned());
                return self.errors.push(format!("{job}: {} here, {} there", said(this), said(other)));
            }
        };
        for (kernel, difference) in differences(&this, &other) {
            self.kernels += 1;
            let Some(difference) = difference else { continue };
            let line = format!("{job}: {kernel}: {difference}");
            println!("{line}");
            self.differing.push(line);
            for (texts, build) in [(&this, "this"), (&other, "base")] {
                assembly::keep_text(texts, kernel, &kept.join(job.file_name()), build);
            }
        }
    }

    /// The closing line.
    pub fn summary(&self) -> String {
        format!("same-code: {} of {} kernels differ", self.differing.len(), self.kernels)
    }
}

/// Each kernel of either build, and how its code differs if it does.
fn differences<'a>(this: &'a Texts, other: &'a Texts) -> BTreeMap<&'a str, Option<String>> {
    let names = this.keys().chain(other.keys());
    names
        .map(|name| {
            let difference = match (this.get(name), other.get(name)) {
                (Some(this), Some(other)) if this == other => None,
                (Some(this), Some(other)) => {
                    let [this, other] = [this, other].map(|text| text.lines().count());
                    Some(format!("{this} lines here, {other} there"))
                }
                (Some(_), None) => Some("no code there".to_owned()),
                _ => Some("no code here".to_owned()),
            };
            (name.as_str(), difference)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pairs: &[(&str, &str)]) -> Texts {
        pairs.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect()
    }

    fn compare(this: Result<Texts, String>, other: Result<Texts, String>) -> Comparison {
        let folder = std::env::temp_dir().join(format!("lockstep-same-code-{}", std::process::id()));
        let mut found = Comparison::default();
        found.add(&Job::Suite("dct"), this, other, &folder);
        let _ = std::fs::remove_dir_all(&folder);
        found
    }

    #[test]
    fn equal_texts_are_the_same_code() {
        let same = texts(&[("a", "ret"), ("b", "nop\nret")]);
        let found = compare(Ok(same.clone()), Ok(same));
        assert_eq!(found.summary(), "same-code: 0 of 2 kernels differ");
        assert_eq!(found.errors, [""; 0]);
    }

    #[test]
    fn other_texts_and_missing_kernels_are_named() {
        let this = texts(&[("a", "ret"), ("b", "nop\nret"), ("new", "ret")]);
        let other = texts(&[("a", "ret"), ("b", "ret"), ("old", "ret")]);
        let found = compare(Ok(this), Ok(other));
        assert_eq!(found.summary(), "same-code: 3 of 4 kernels differ");
        let lines = ["b: 2 lines here, 1 there", "new: no code there", "old: no code here"];
        assert_eq!(found.differing, lines.map(|line| format!("suite dct: {line}")));
    }

    #[test]
    fn a_build_that_fails_alone_is_an_error() {
        let fails = || Err("ended: signal 11".to_owned());
        let found = compare(fails(), Ok(texts(&[("a", "ret")])));
        assert_eq!(found.errors, ["suite dct: ended: signal 11 here, is compiled there"]);
        assert_eq!(compare(fails(), fails()), Comparison::default());
    }
}
