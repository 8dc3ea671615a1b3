//! What `LOCKSTEP_REPORT` asks for: a file for each kernel that tells of all its variants what became of the code, of which
//! launches they are, how many of them there were and how long they took (`docs/report.md`).
//!
//! A file is written when a variant is made, after the first launch and whenever a variant's launches have doubled, when the
//! program goes, and when the process ends: a process that crashes leaves counts that are at most half as large as they
//! should be.

use std::collections::HashMap;
use std::fmt::Write;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once, Weak};
use std::time::{Duration, Instant};

use crate::execute::process_exit::call_at_exit;
use lockstep_protocol::file_names::file_name;
use lockstep_protocol::job::ReportTexts;
use parking_lot::Mutex;
use serde::Serialize;
use tracing::warn;

/// The report on one kernel of a program.
#[derive(Debug)]
pub struct KernelReport {
    /// Where it is written, without the extension.
    path: PathBuf,
    kernel: String,
    variants: Mutex<Vec<Arc<VariantUsage>>>,
}

impl KernelReport {
    /// A report on a kernel, without variants yet. Kernels of one name that are of different programs have files of their
    /// own; the identity is a hash of the program.
    pub fn open(folder: &Path, kernel: &str, identity: [u8; 32]) -> Arc<KernelReport> {
        let mut files = FILES.lock();
        let path = folder.join(files.name_file(kernel, identity));
        let kernel_report = Arc::new(KernelReport { path, kernel: kernel.to_owned(), variants: Mutex::default() });
        files.open.retain(|other_report| other_report.strong_count() > 0);
        files.open.push(Arc::downgrade(&kernel_report));
        write_at_exit();
        kernel_report
    }

    /// Adds a variant, with what holds of its launches and what became of its code.
    pub fn add_variant(self: &Arc<Self>, fact_texts: Vec<String>, report: Option<ReportTexts>) -> Arc<VariantUsage> {
        let kernel = Arc::downgrade(self);
        let variant_usage = VariantUsage {
            kernel,
            facts: fact_texts,
            report,
            launches: AtomicU64::default(),
            nanoseconds: AtomicU64::default(),
        };
        let variant_usage = Arc::new(variant_usage);
        self.variants.lock().push(variant_usage.clone());
        self.write();
        variant_usage
    }

    /// Writes the files. That they cannot be written is logged and changes nothing else.
    fn write(&self) {
        // One at a time writes, and what is written last is the newest.
        let variants = self.variants.lock();
        let described: Vec<_> = variants.iter().map(|variant_usage| variant_usage.describe()).collect();
        let described = Described {
            kernel: &self.kernel,
            launches: described.iter().map(|variant| variant.launches).sum(),
            milliseconds: described.iter().map(|variant| variant.milliseconds).sum(),
            variants: described,
        };
        let json = serde_json::to_string_pretty(&described).unwrap_or_default() + "\n";
        let written = self
            .path
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(self.path.with_extension("txt"), described.text()))
            .and_then(|()| std::fs::write(self.path.with_extension("json"), json));
        if let Err(error) = written {
            warn!(target: "report", "{} is not written: {error}", self.path.display());
        }
    }
}

impl Drop for KernelReport {
    fn drop(&mut self) {
        if !self.variants.lock().is_empty() {
            self.write();
        }
    }
}

/// How one variant of a kernel is used.
#[derive(Debug)]
pub struct VariantUsage {
    kernel: Weak<KernelReport>,
    /// What holds of its launches, in words.
    facts: Vec<String>,
    report: Option<ReportTexts>,
    launches: AtomicU64,
    /// How long the launches took together.
    nanoseconds: AtomicU64,
}

impl VariantUsage {
    /// Runs a launch and counts it.
    pub fn time_launch<T>(&self, launch: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = launch();
        self.count_launch(started.elapsed());
        result
    }

    fn count_launch(&self, duration: Duration) {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        let launches = self.launches.fetch_add(1, Ordering::Relaxed) + 1;
        if launches.is_power_of_two()
            && let Some(kernel) = self.kernel.upgrade()
        {
            kernel.write();
        }
    }

    fn describe(&self) -> DescribedVariant<'_> {
        DescribedVariant {
            launches: self.launches.load(Ordering::Relaxed),
            milliseconds: self.nanoseconds.load(Ordering::Relaxed) as f64 / 1e6,
            facts: &self.facts,
            report: self.report.as_ref().and_then(|report| serde_json::from_str(&report.json).ok()).unwrap_or_default(),
            text: self.report.as_ref().map_or("", |report| &report.text),
        }
    }
}

/// A kernel's report as it is written; its fields are the format that `docs/report.md` describes.
#[derive(Serialize)]
struct Described<'a> {
    kernel: &'a str,
    launches: u64,
    milliseconds: f64,
    variants: Vec<DescribedVariant<'a>>,
}

/// A variant in it.
#[derive(Serialize)]
struct DescribedVariant<'a> {
    launches: u64,
    milliseconds: f64,
    facts: &'a [String],
    /// The fields of the compiler's report.
    #[serde(flatten)]
    report: serde_json::Map<String, serde_json::Value>,
    #[serde(skip)]
    text: &'a str,
}

impl Described<'_> {
    fn text(&self) -> String {
        let usage_text = describe_usage(self.launches, self.milliseconds);
        let mut text = format!("kernel {}: {usage_text}\n", self.kernel);
        for (number, variant) in (1..).zip(&self.variants) {
            let usage_text = describe_usage(variant.launches, variant.milliseconds);
            let _ = write!(text, "\nvariant {number}: {usage_text}; for {}\n", variant.facts.join(", "));
            text.push_str(variant.text);
        }
        text
    }
}

fn describe_usage(launches: u64, milliseconds: f64) -> String {
    let plural = if launches == 1 { "" } else { "es" };
    format!("{launches} launch{plural} in {milliseconds:.3} ms")
}

/// The files of this process.
#[derive(Default)]
struct Files {
    /// The programs that have a kernel of a name, in the order in which they came.
    programs: Option<HashMap<String, Vec<[u8; 32]>>>,
    open: Vec<Weak<KernelReport>>,
}

static FILES: Mutex<Files> = Mutex::new(Files { programs: None, open: Vec::new() });

impl Files {
    /// The file's name for a kernel of a program: of the first program the kernel's name, of others with their number.
    fn name_file(&mut self, kernel: &str, identity: [u8; 32]) -> String {
        let programs = self.programs.get_or_insert_default().entry(file_name(kernel)).or_default();
        let index = programs.iter().position(|known_digest| *known_digest == identity).unwrap_or_else(|| {
            programs.push(identity);
            programs.len() - 1
        });
        match index {
            0 => file_name(kernel),
            index => format!("{}-{}", file_name(kernel), index + 1),
        }
    }
}

/// Has the reports written when the process ends: many applications end without releasing their programs.
fn write_at_exit() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| call_at_exit(write_open_reports));
}

extern "C" fn write_open_reports() {
    let _ = catch_unwind(|| {
        let open: Vec<_> = FILES.lock().open.iter().filter_map(Weak::upgrade).collect();
        open.iter().for_each(|kernel_report| kernel_report.write());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            Folder(std::env::temp_dir().join(format!("lockstep-kernel-report-{name}-{}", std::process::id())))
        }

        fn read(&self, file: &str) -> String {
            std::fs::read_to_string(self.0.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn scalar_report(kernel: &str) -> Option<ReportTexts> {
        let text = format!("kernel {kernel}: work-items one after the other (as asked)\n");
        Some(ReportTexts { text, json: r#"{"configuration": "scalar", "width": 1}"#.into() })
    }

    #[test]
    fn each_variant_has_its_launches_and_their_time() {
        let folder = Folder::new("variants");
        let kernel = KernelReport::open(&folder.0, "sums", [1; 32]);
        let first = kernel.add_variant(vec!["groups of 16 x 1 x 1".into(), "no offset".into()], scalar_report("sums"));
        let second = kernel.add_variant(vec!["any launch".into()], scalar_report("sums"));
        (0..3).for_each(|_| first.count_launch(Duration::from_micros(1500)));
        second.count_launch(Duration::from_millis(2));
        drop(kernel);
        let expected = "kernel sums: 4 launches in 6.500 ms

variant 1: 3 launches in 4.500 ms; for groups of 16 x 1 x 1, no offset
kernel sums: work-items one after the other (as asked)

variant 2: 1 launch in 2.000 ms; for any launch
kernel sums: work-items one after the other (as asked)
";
        assert_eq!(folder.read("sums.txt"), expected);
        let json: serde_json::Value = serde_json::from_str(&folder.read("sums.json")).expect("JSON");
        assert_eq!((&json["launches"], &json["milliseconds"]), (&serde_json::json!(4), &serde_json::json!(6.5)));
        let variant = &json["variants"][0];
        assert_eq!(variant["facts"], serde_json::json!(["groups of 16 x 1 x 1", "no offset"]));
        assert_eq!((&variant["launches"], &variant["width"]), (&serde_json::json!(3), &serde_json::json!(1)));
    }

    #[test]
    fn counts_are_written_before_the_program_goes() {
        let folder = Folder::new("crash");
        let kernel = KernelReport::open(&folder.0, "k", [2; 32]);
        let variant_usage = kernel.add_variant(vec!["any launch".into()], None);
        assert!(folder.read("k.txt").starts_with("kernel k: 0 launches in 0.000 ms\n"));
        (0..5).for_each(|_| variant_usage.count_launch(Duration::from_millis(1)));
        assert!(folder.read("k.txt").starts_with("kernel k: 4 launches in 4.000 ms\n"));
        write_open_reports();
        assert!(folder.read("k.txt").starts_with("kernel k: 5 launches in 5.000 ms\n"));
    }

    #[test]
    fn programs_with_a_kernel_of_one_name_have_files_of_their_own() {
        let folder = Folder::new("names");
        for (identity, file) in [(3, "same.txt"), (4, "same-2.txt"), (3, "same.txt")] {
            let kernel = KernelReport::open(&folder.0, "same", [identity; 32]);
            kernel.add_variant(vec![format!("program {identity}")], None);
            assert!(folder.read(file).contains(&format!("; for program {identity}\n")), "{file}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_changes_nothing() {
        let kernel = KernelReport::open(Path::new("/dev/null/reports"), "unwritable", [5; 32]);
        let variant_usage = kernel.add_variant(vec!["any launch".into()], None);
        assert_eq!(variant_usage.time_launch(|| 7), 7);
    }
}
