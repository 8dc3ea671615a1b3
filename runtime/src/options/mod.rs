//! Every `LOCKSTEP_*` switch. The environment is read once, here and nowhere else.
//!
//! A switch is one row of [`table::TABLE`], a pass's switch one of `lockstep_protocol::pass_switches`; `docs/options.md` is
//! those tables. A value that cannot be read is reported on standard error once and the default is taken: a driver must
//! not stop an application for a typo. So is a name that looks like a switch and is none.

mod names;
#[cfg(test)]
mod page;
pub mod table;
mod values;

use lockstep_protocol::compile_options::{Tier, Vectorize};
use lockstep_protocol::configuration::{Gangs, Versions};
use lockstep_protocol::pass_switches::PassSwitch;
use lockstep_protocol::scalar_replacement::ScalarReplacement;
use once_cell::sync::Lazy;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use table::{ALIASES, TABLE};
use tracing::level_filters::LevelFilter;

use crate::standard_error::write_to_standard_error;

/// The switches' values.
#[derive(Clone, Debug)]
pub struct Options {
    /// The compiler's executable (`LOCKSTEP_COMPILER`).
    pub compiler: Option<PathBuf>,
    /// How long a job of the compiler may take (`LOCKSTEP_BUILD_TIMEOUT_MS`).
    pub build_timeout: Duration,
    /// Whether sources may include and embed files of the system (`LOCKSTEP_INCLUDES`).
    pub includes: bool,
    /// Whether first launches get code of a first tier (`LOCKSTEP_TIERS`).
    pub tiers: bool,
    /// Whether other forms of kernels that run for long are made and measured (`LOCKSTEP_TRIALS`).
    pub trials: Versions,
    /// Whether code is made of kernels that are likely to be launched next (`LOCKSTEP_LOOKAHEAD`).
    pub lookahead: bool,
    /// How many threads run work-groups (`LOCKSTEP_THREADS`).
    pub threads: Option<usize>,
    /// Whether and how work-items run in gangs (`LOCKSTEP_VECTORIZE`).
    pub vectorize: Vectorize,
    /// Bits of the widest vectors that code uses (`LOCKSTEP_SIMD`).
    pub simd: Option<u32>,
    /// Where loads make way for values that earlier accesses left.
    pub scalar_replacement: ScalarReplacement,
    /// Whether code may rely on a launch's facts (`LOCKSTEP_SPECIALIZE`).
    pub specialize: bool,
    /// Whether the driver may choose groups where kernels cannot tell (`LOCKSTEP_FLATTEN`).
    pub flatten: bool,
    /// When stores go past the caches (`LOCKSTEP_STREAMS`).
    pub streams: Versions,
    /// Where compiled code is kept (`LOCKSTEP_CACHE`).
    pub cache: CachePlace,
    /// `LOCKSTEP_CACHE_MB`, in bytes.
    pub cache_bytes: u64,
    /// The folder for what passes leave (`LOCKSTEP_DUMP`).
    pub dump: Option<PathBuf>,
    /// Whether debuggers and profilers see the names and lines of code (`LOCKSTEP_DEBUG`).
    pub debug: bool,
    /// The folder for reports (`LOCKSTEP_REPORT`).
    pub report: Option<PathBuf>,
    /// Whether the milliseconds of each pass of building and compiling go to standard error (`LOCKSTEP_TIME`).
    pub time: bool,
    /// Whether a mistake of the driver in a pass or in code generation is an error (`LOCKSTEP_STRICT`).
    pub strict: bool,
    /// What the driver says of its work (`LOCKSTEP_LOG`).
    pub log: Log,
    /// What the platform and the device call themselves, for applications that look for names they know.
    pub identity: Identity,
}

/// What the driver says of its work, beside what a user has to know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Log {
    /// The least important events that have a line.
    pub level: LevelFilter,
    /// The file that lines are added to; none for standard error.
    pub file: Option<PathBuf>,
}

/// Names in place of the driver's own.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Identity {
    /// The name that the platform gives (`LOCKSTEP_PLATFORM_NAME`).
    pub platform_name: Option<String>,
    /// The vendor that the platform gives (`LOCKSTEP_PLATFORM_VENDOR`).
    pub platform_vendor: Option<String>,
    /// The name that the device gives (`LOCKSTEP_DEVICE_NAME`).
    pub device_name: Option<String>,
    /// The vendor that the device gives (`LOCKSTEP_DEVICE_VENDOR`).
    pub device_vendor: Option<String>,
}

/// Where what was compiled is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CachePlace {
    /// Nothing is kept.
    Off,
    /// In memory, as there is no folder for it.
    Memory,
    /// In this folder.
    Folder(PathBuf),
}

impl fmt::Display for CachePlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CachePlace::Off => formatter.write_str("off"),
            CachePlace::Memory => formatter.write_str("in memory"),
            CachePlace::Folder(folder) => folder.display().fmt(formatter),
        }
    }
}

/// The values for this process.
pub fn options() -> &'static Options {
    static OPTIONS: Lazy<Options> = Lazy::new(read_environment);
    &OPTIONS
}

/// Reads the environment of the process. What is wrong with it goes to standard error.
fn read_environment() -> Options {
    // A program that runs with more rights than its user is not to compile, load or write where that user says.
    use rustix::process::{getegid, geteuid, getgid, getuid};
    let trusted = getuid() == geteuid() && getgid() == getegid();
    let variable = |name: &str| std::env::var_os(name).filter(|value| trusted && !value.is_empty());
    let (mut options, mut complaints) = Options::read(variable);
    if trusted {
        let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
        complaints.extend(names.filter_map(|name| names::find_complaint(&name)));
        let folders = table::named_folders(&options);
        complaints.extend(folders.filter_map(|(name, folder)| complaint_about_folder(name, folder)));
    }
    complaints.iter().for_each(|complaint| write_to_standard_error(&format!("lockstep: {complaint}\n")));
    if options.cache == CachePlace::Memory {
        options.cache = usual_cache(variable("XDG_CACHE_HOME"), variable("HOME"));
    }
    options
}

/// Why a folder that somebody named cannot be filled, as far as that can be told before it is made, which is done when there
/// is something to fill it with.
fn complaint_about_folder(name: &str, folder: &Path) -> Option<String> {
    // What is there of the path decides about the rest.
    let there = std::path::absolute(folder).ok()?.ancestors().find(|ancestor| ancestor.exists())?.to_owned();
    let writable = match there.is_dir() {
        true => rustix::fs::access(&there, rustix::fs::Access::WRITE_OK).map_err(|error| error.to_string()),
        false => Err(format!("{} is not a folder", there.display())),
    };
    writable.err().map(|error| format!("{name}={} cannot be written: {error}", folder.display()))
}

/// The folder of the XDG base directory specification, which ignores relative paths.
fn usual_cache(caches: Option<OsString>, home: Option<OsString>) -> CachePlace {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let caches = caches.and_then(absolute).or_else(|| Some(home.and_then(absolute)?.join(".cache")));
    caches.map_or(CachePlace::Memory, |caches| CachePlace::Folder(caches.join("lockstep")))
}

/// What was read so far.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The values; how work-items run together is not among them yet.
    options: Options,
    /// Whether work-items are to run one after the other.
    is_scalar: bool,
    /// How they run in gangs if they do.
    gangs: Gangs,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            compiler: None,
            build_timeout: Duration::from_millis(60_000),
            includes: true,
            tiers: true,
            trials: Versions::default(),
            lookahead: true,
            threads: None,
            vectorize: Vectorize::Gangs(Gangs::default()),
            simd: None,
            scalar_replacement: ScalarReplacement::default(),
            specialize: true,
            flatten: true,
            streams: Versions::default(),
            cache: CachePlace::Memory,
            cache_bytes: 512 << 20,
            dump: None,
            debug: false,
            report: None,
            time: false,
            strict: false,
            log: Log { level: LevelFilter::OFF, file: None },
            identity: Identity::default(),
        }
    }
}

impl Options {
    /// Whether somebody wants to see what becomes of kernels: then the cache gives no code.
    pub fn inspects_code(&self) -> bool {
        self.dump.is_some() || self.report.is_some()
    }

    /// The tier of the code that a kernel gets first.
    pub fn first_tier(&self) -> Tier {
        // Whoever looks at code wants to see what stays.
        if self.tiers && !self.inspects_code() { Tier::Baseline } else { Tier::Optimized }
    }

    /// Where other forms of kernels that run for long are made and measured. Whoever looks at code wants that of the estimate.
    pub fn form_trials(&self) -> Versions {
        if self.inspects_code() { Versions::Never } else { self.trials }
    }

    /// Whether code is made of kernels that are likely to be launched next. Whoever looks at code wants that of the launches there were.
    pub fn looks_ahead(&self) -> bool {
        self.lookahead && !self.inspects_code()
    }

    /// Reads every switch through `variable`, and says what is wrong with values. Empty ones count as not set.
    fn read(variable: impl Fn(&str) -> Option<OsString>) -> (Options, Vec<String>) {
        let mut reading = Reading { options: Options::default(), is_scalar: false, gangs: Gangs::default() };
        let mut complaints = Vec::new();
        for (name, switch) in ALIASES {
            complaints.extend(read_value(name, variable(name), |value| {
                reading.gangs.passes.set(*switch, values::parse_versions(value)?);
                Ok(())
            }));
        }
        // What the list of passes says comes after what their old names say.
        for switch in TABLE {
            complaints
                .extend(read_value(switch.name, variable(switch.name), |value| (switch.read)(value, &mut reading)));
        }
        let Reading { mut options, is_scalar, gangs } = reading;
        // One work-item after the other has no other switches of passes.
        if gangs.pass_versions(PassSwitch::ScalarReplacement) == Versions::Never {
            options.scalar_replacement = ScalarReplacement::Off;
        }
        options.vectorize = if is_scalar { Vectorize::Scalar } else { Vectorize::Gangs(gangs) };
        (options, complaints)
    }
}

/// Has a value read if there is one; the answer is what is wrong with it.
fn read_value(
    name: &str,
    value: Option<OsString>,
    read_switch: impl FnOnce(&str) -> Result<(), String>,
) -> Option<String> {
    let value = value.filter(|value| !value.is_empty())?;
    let read_switch = match value.to_str() {
        Some(text) => read_switch(text),
        None => Err("is not valid UTF-8".to_owned()),
    };
    let error = read_switch.err()?;
    Some(format!("{name}={} {error}; ignored", OsStr::to_string_lossy(&value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_protocol::configuration::Configuration;
    use lockstep_protocol::layout::Layout;
    use lockstep_protocol::pass_switches::PassSwitch;

    /// The options where these variables are set, and what is said.
    fn read(variables: &[(&str, &str)]) -> (Options, Vec<String>) {
        let find = |name: &str| variables.iter().find(|(known_name, _)| *known_name == name);
        Options::read(|name| Some(find(name)?.1.into()))
    }

    #[test]
    fn unset_and_empty_give_defaults() {
        for value in [None, Some(OsString::new())] {
            let (options, complaints) = Options::read(|_| value.clone());
            assert_eq!(format!("{options:?}"), format!("{:?}", Options::default()));
            assert_eq!(complaints, [""; 0]);
        }
    }

    #[test]
    fn every_switch_takes_its_value_and_refuses_others() {
        let defaults = format!("{:?}", Options::default());
        for switch in TABLE {
            let (options, complaints) = read(&[(switch.name, switch.accepted)]);
            assert_eq!(complaints, [""; 0], "{}", switch.name);
            assert_ne!(format!("{options:?}"), defaults, "{} changes nothing", switch.name);
            let Some(refused) = switch.refused else { continue };
            let (options, complaints) = read(&[(switch.name, refused)]);
            assert_eq!(format!("{options:?}"), defaults, "{}={refused}", switch.name);
            assert_eq!(complaints.len(), 1, "{}={refused}", switch.name);
            assert!(complaints[0].starts_with(&format!("{}={refused} is not", switch.name)), "{complaints:?}");
        }
    }

    #[test]
    fn values_go_where_they_belong() {
        let (options, complaints) = read(&[
            ("LOCKSTEP_VECTORIZE", "boscc"),
            ("LOCKSTEP_WIDTH", "8"),
            ("LOCKSTEP_LAYOUT", "z"),
            ("LOCKSTEP_PASSES", "gates=always,-per_lane_loops"),
            ("LOCKSTEP_THREADS", " 3 "),
            ("LOCKSTEP_BUILD_TIMEOUT_MS", "250"),
            ("LOCKSTEP_DUMP", "dumps"),
            ("LOCKSTEP_REPORT", "reports"),
            ("LOCKSTEP_CACHE_MB", "2"),
            ("LOCKSTEP_DEVICE_VENDOR", "A vendor"),
        ]);
        let gangs = Gangs { configuration: Configuration::Boscc, layout: Some(Layout::Z), ..Gangs::of_width(8) };
        let gangs =
            gangs.with_pass(PassSwitch::Gates, Versions::Always).with_pass(PassSwitch::PerLaneLoops, Versions::Never);
        assert_eq!(options.vectorize, Vectorize::Gangs(gangs));
        assert_eq!((options.threads, options.build_timeout), (Some(3), Duration::from_millis(250)));
        assert_eq!((options.dump, options.report), (Some("dumps".into()), Some("reports".into())));
        assert_eq!((options.cache, options.cache_bytes), (CachePlace::Memory, 2 << 20));
        assert_eq!(options.identity.device_vendor.as_deref(), Some("A vendor"));
        assert_eq!(complaints, [""; 0]);
        assert_eq!(read(&[("LOCKSTEP_VECTORIZE", "scalar")]).0.vectorize, Vectorize::Scalar);
    }

    #[test]
    fn old_names_set_passes_and_the_list_holds_over_them() {
        for &(name, switch) in ALIASES {
            let set = |versions| Vectorize::Gangs(Gangs::default().with_pass(switch, versions));
            assert_eq!(read(&[(name, "0")]).0.vectorize, set(Versions::Never), "{name}");
            assert_eq!(read(&[(name, " always")]).0.vectorize, set(Versions::Always), "{name}");
            let both = format!("-{}", switch.name());
            assert_eq!(
                read(&[(name, "always"), ("LOCKSTEP_PASSES", &both)]).0.vectorize,
                set(Versions::Never),
                "{name}"
            );
            assert_eq!(read(&[(name, "on")]).1, [format!("{name}=on is not 0, 1 or always; ignored")]);
            let old = name.trim_start_matches("LOCKSTEP_").to_ascii_lowercase();
            let list = format!("+all, {old}=always");
            assert_eq!(read(&[("LOCKSTEP_PASSES", &list)]).0.vectorize, set(Versions::Always), "{old}");
        }
    }

    #[test]
    fn values_that_are_no_text_are_said() {
        use std::os::unix::ffi::OsStringExt;
        let (options, complaints) =
            Options::read(|name| (name == "LOCKSTEP_DUMP").then(|| OsString::from_vec(vec![b'a', 0xff])));
        assert_eq!(options.dump, None);
        assert_eq!(complaints, ["LOCKSTEP_DUMP=a\u{fffd} is not valid UTF-8; ignored"]);
    }

    #[test]
    fn folders_that_cannot_be_filled_are_said() {
        let said = complaint_about_folder("LOCKSTEP_DUMP", Path::new("/dev/null/dumps"));
        let wanted = "LOCKSTEP_DUMP=/dev/null/dumps cannot be written: /dev/null is not a folder";
        assert_eq!(said.as_deref(), Some(wanted));
        let folder = std::env::temp_dir().join("lockstep-options-not-there/dumps");
        assert_eq!(complaint_about_folder("LOCKSTEP_DUMP", &folder), None);
        assert!(!folder.exists());
    }

    #[test]
    fn the_log_has_a_level_and_may_have_a_file() {
        let log = |value: &str| read(&[("LOCKSTEP_LOG", value)]).0.log;
        let at_level = |level| Log { level, file: None };
        assert_eq!(log("off"), at_level(LevelFilter::OFF));
        assert_eq!(log(" warn "), at_level(LevelFilter::WARN));
        assert_eq!(log("debug"), at_level(LevelFilter::DEBUG));
        assert_eq!(log("info:/a:b"), Log { level: LevelFilter::INFO, file: Some("/a:b".into()) });
        let file = log("error:here").file.expect("a file");
        assert!(file.is_absolute() && file.ends_with("here"));
        for refused in ["trace", "info:", ":/a", "2", "Debug"] {
            let (options, complaints) = read(&[("LOCKSTEP_LOG", refused)]);
            assert_eq!((options.log, complaints.len()), (at_level(LevelFilter::OFF), 1), "{refused}");
        }
    }

    #[test]
    fn the_cache_is_off_or_somewhere() {
        let cache = |value: &str| read(&[("LOCKSTEP_CACHE", value)]).0.cache;
        assert_eq!(cache("off"), CachePlace::Off);
        assert_eq!(cache(" 0"), CachePlace::Off);
        assert_eq!(cache("yes"), CachePlace::Memory);
        let CachePlace::Folder(folder) = cache("here") else { panic!("not a folder") };
        assert!(folder.is_absolute() && folder.ends_with("here"));
        let usual =
            |caches: Option<&str>, home: Option<&str>| usual_cache(caches.map(Into::into), home.map(Into::into));
        assert_eq!(usual(Some("/c"), Some("/h")), CachePlace::Folder("/c/lockstep".into()));
        assert_eq!(usual(Some("c"), Some("/h")), CachePlace::Folder("/h/.cache/lockstep".into()));
        assert_eq!(usual(None, None), CachePlace::Memory);
    }
}
