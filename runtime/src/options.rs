//! Every `LOCKSTEP_*` switch. The environment is read once, here and nowhere else.
//!
//! [`TABLE`] is the list that `docs/options.md` shows. A value that cannot be read is reported on
//! standard error once and the default is taken: a driver must not stop an application for a typo.

use lockstep_protocol::compile_options::Vectorize;
use lockstep_protocol::configuration::{Gangs, Versions, WIDTHS};
use once_cell::sync::Lazy;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// One switch: the variable, its default and what it does.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// The environment variable.
    pub name: &'static str,
    /// What holds when it is not set.
    pub default: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

/// All switches.
pub const TABLE: &[Switch] = &[
    Switch {
        name: "LOCKSTEP_CLANG",
        default: "clang-22 on PATH, then /usr/lib/llvm-22/bin/clang",
        meaning: "path of the clang that compiles OpenCL C",
    },
    Switch {
        name: "LOCKSTEP_BUILD_TIMEOUT_MS",
        default: "60000",
        meaning: "milliseconds after which a run of clang is killed",
    },
    Switch {
        name: "LOCKSTEP_THREADS",
        default: "the CPUs this process may use",
        meaning: "threads that run work-groups, the calling one included",
    },
    Switch {
        name: "LOCKSTEP_VECTORIZE",
        default: "unicf",
        meaning: "how work-items run together in the lanes of vectors: scalar (not at all), naive, unival, boscc or unicf",
    },
    Switch {
        name: "LOCKSTEP_WIDTH",
        default: "as fits the kernel",
        meaning: "work-items that run together: 2, 4, 8, 16, 32 or 64",
    },
    Switch {
        name: "LOCKSTEP_LAYOUT",
        default: "as fits the kernel",
        meaning: "which work-items run together, wherever that is possible: consecutive ones along x, y or z, or rows of a tile",
    },
    Switch {
        name: "LOCKSTEP_SIMD",
        default: "the machine's",
        meaning: "bits of the widest vector registers to use: 128, 256 or 512",
    },
    Switch {
        name: "LOCKSTEP_SPECIALIZE",
        default: "1",
        meaning: "whether code is made for what holds of a launch: 1, or 0 for code that runs every launch",
    },
    Switch {
        name: "LOCKSTEP_STREAMS",
        default: "1",
        meaning: "whether stores through pointers that are only written to go past the caches: 1 in launches that touch more than these keep, 0, or always",
    },
    Switch {
        name: "LOCKSTEP_FLATTEN",
        default: "1",
        meaning: "whether kernels that cannot tell their groups run in groups of the driver's choosing: 1, or 0",
    },
    Switch {
        name: "LOCKSTEP_GATES",
        default: "1",
        meaning: "whether branches lead past code that no work-item of a gang runs: 1 where that pays, 0, or always",
    },
    Switch {
        name: "LOCKSTEP_UNMASKED_LOOPS",
        default: "1",
        meaning: "whether divergent loops run without masks until a lane leaves: 1 where that pays, 0, or always",
    },
    Switch {
        name: "LOCKSTEP_ALL_TRUE",
        default: "1",
        meaning: "whether code behind divergent branches has a copy for gangs that go there as one: 1 where that pays, 0, or always",
    },
    Switch {
        name: "LOCKSTEP_IN_TURN",
        default: "1",
        meaning: "whether work-items run a loop one after the other that few of a gang enter: 1 where that pays, 0, or always",
    },
    Switch {
        name: "LOCKSTEP_UNIFORM_CHOICES",
        default: "1",
        meaning: "whether code has a version for each value of a condition that chooses between two addresses for all work-items: 1 where that pays, 0, or always",
    },
    Switch {
        name: "LOCKSTEP_SPLIT_CONDITIONS",
        default: "1",
        meaning: "whether operands of a condition that are the same in a gang get branches of their own: 1 where they skip something, 0, or always",
    },
    Switch {
        name: "LOCKSTEP_WHOLE_PIECES",
        default: "1",
        meaning: "whether code has a version for launches in which no piece of an index ends within a gang: 1 where that pays, 0, or always",
    },
    Switch {
        name: "LOCKSTEP_ROUNDS_AT_ONCE",
        default: "1",
        meaning: "whether loops in which work-items walk along memory in places of their own run several rounds at once: 1 where that pays, 0, or always",
    },
    Switch {
        name: "LOCKSTEP_CACHE",
        default: "lockstep in XDG_CACHE_HOME or ~/.cache",
        meaning: "folder that keeps what was compiled for later processes, or off",
    },
    Switch { name: "LOCKSTEP_CACHE_MB", default: "512", meaning: "mebibytes that folder may take" },
    Switch {
        name: "LOCKSTEP_DUMP",
        default: "nothing",
        meaning: "folder that receives each kernel's IR, LLVM IR and assembly after every stage",
    },
    Switch {
        name: "LOCKSTEP_REPORT",
        default: "nothing",
        meaning: "folder that receives what became of each kernel's loads, stores, branches and loops, as text and JSON",
    },
    Switch {
        name: "LOCKSTEP_TIME",
        default: "0",
        meaning: "whether the milliseconds of each stage of a program's build and a kernel's compilation go to standard error: 0 or 1",
    },
    Switch { name: "LOCKSTEP_PLATFORM_NAME", default: "Lockstep", meaning: "what the platform gives as its name" },
    Switch { name: "LOCKSTEP_PLATFORM_VENDOR", default: "Lockstep", meaning: "what the platform gives as its vendor" },
    Switch { name: "LOCKSTEP_DEVICE_NAME", default: "the processor's", meaning: "what the device gives as its name" },
    Switch { name: "LOCKSTEP_DEVICE_VENDOR", default: "Lockstep", meaning: "what the device gives as its vendor" },
];

/// The switches' values.
#[derive(Clone, Debug)]
pub struct Options {
    /// `LOCKSTEP_CLANG`.
    pub clang: Option<PathBuf>,
    /// `LOCKSTEP_BUILD_TIMEOUT_MS`.
    pub build_timeout: Duration,
    /// `LOCKSTEP_THREADS`.
    pub threads: Option<usize>,
    /// `LOCKSTEP_VECTORIZE`.
    pub vectorize: Vectorize,
    /// `LOCKSTEP_SIMD`.
    pub simd: Option<u32>,
    /// `LOCKSTEP_SPECIALIZE`.
    pub specialize: bool,
    /// `LOCKSTEP_FLATTEN`.
    pub flatten: bool,
    /// `LOCKSTEP_STREAMS`.
    pub streams: Versions,
    /// `LOCKSTEP_CACHE`.
    pub cache: CachePlace,
    /// `LOCKSTEP_CACHE_MB`, in bytes.
    pub cache_bytes: u64,
    /// `LOCKSTEP_DUMP`.
    pub dump: Option<PathBuf>,
    /// `LOCKSTEP_REPORT`.
    pub report: Option<PathBuf>,
    /// Whether the milliseconds of each stage of building and compiling go to standard error (`LOCKSTEP_TIME`).
    pub time: bool,
    /// What the platform and the device call themselves, for applications that look for names they know.
    pub identity: Identity,
    /// `PATH`: where clang is looked for.
    pub search_path: Option<OsString>,
    /// `TMPDIR`: where private folders are made.
    pub temp_dir: PathBuf,
}

/// Names in place of the driver's own.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Identity {
    /// `LOCKSTEP_PLATFORM_NAME`.
    pub platform_name: Option<String>,
    /// `LOCKSTEP_PLATFORM_VENDOR`.
    pub platform_vendor: Option<String>,
    /// `LOCKSTEP_DEVICE_NAME`.
    pub device_name: Option<String>,
    /// `LOCKSTEP_DEVICE_VENDOR`.
    pub device_vendor: Option<String>,
}

/// Where what was compiled is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CachePlace {
    /// Nowhere.
    Off,
    /// In memory, as there is no folder for it.
    Memory,
    /// In this folder.
    Folder(PathBuf),
}

/// The values for this process.
pub fn options() -> &'static Options {
    static OPTIONS: Lazy<Options> = Lazy::new(|| {
        // A program that runs with more rights than its user is not to compile, load or write where that user says.
        use rustix::process::{getegid, geteuid, getgid, getuid};
        let trusted = getuid() == geteuid() && getgid() == getegid();
        let variable = |name: &str| std::env::var_os(name).filter(|value| trusted && !value.is_empty());
        let mut options = Options::read(|name| variable(name)?.into_string().ok());
        if trusted {
            options.search_path = std::env::var_os("PATH");
            options.temp_dir = std::env::temp_dir();
        }
        if options.cache == CachePlace::Memory {
            options.cache = usual_cache(variable("XDG_CACHE_HOME"), variable("HOME"));
        }
        options
    });
    &OPTIONS
}

/// The folder of the XDG base directory specification, which ignores relative paths.
fn usual_cache(caches: Option<OsString>, home: Option<OsString>) -> CachePlace {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let caches = caches.and_then(absolute).or_else(|| Some(home.and_then(absolute)?.join(".cache")));
    caches.map_or(CachePlace::Memory, |caches| CachePlace::Folder(caches.join("lockstep")))
}

impl Options {
    /// Reads every switch through `get`; empty values count as not set.
    fn read(get: impl Fn(&str) -> Option<String>) -> Options {
        let text = |name: &str| get(name).filter(|value| !value.is_empty());
        let number = |name: &str| {
            let value = text(name)?;
            match value.trim().parse::<u64>() {
                Ok(number) if number > 0 => Some(number),
                _ => {
                    eprintln!("lockstep: {name}={value} is not a positive number; ignored");
                    None
                }
            }
        };
        let width = text("LOCKSTEP_WIDTH").and_then(|value| match value.trim().parse() {
            Ok(width) if WIDTHS.contains(&width) => Some(width),
            _ => {
                eprintln!("lockstep: LOCKSTEP_WIDTH={value} is not 2, 4, 8, 16, 32 or 64; ignored");
                None
            }
        });
        let configuration = text("LOCKSTEP_VECTORIZE").and_then(|value| match value.trim() {
            "scalar" => Some(None),
            name => match name.parse() {
                Ok(configuration) => Some(Some(configuration)),
                Err(()) => {
                    eprintln!("lockstep: LOCKSTEP_VECTORIZE={value} is no configuration; ignored");
                    None
                }
            },
        });
        let layout = text("LOCKSTEP_LAYOUT").and_then(|value| match value.trim().parse() {
            Ok(layout) => Some(layout),
            Err(()) => {
                eprintln!("lockstep: LOCKSTEP_LAYOUT={value} is not x, y, z, tile or linear; ignored");
                None
            }
        });
        let versions = |name: &str| match text(name).as_deref().map(str::trim) {
            None | Some("1") => Versions::WherePays,
            Some("0") => Versions::Never,
            Some("always") => Versions::Always,
            Some(value) => {
                eprintln!("lockstep: {name}={value} is not 0, 1 or always; ignored");
                Versions::WherePays
            }
        };
        let [gates, unmasked_loops, all_true, in_turn, uniform_choices, split_conditions, whole_pieces, rounds_at_once] =
            [
                "LOCKSTEP_GATES",
                "LOCKSTEP_UNMASKED_LOOPS",
                "LOCKSTEP_ALL_TRUE",
                "LOCKSTEP_IN_TURN",
                "LOCKSTEP_UNIFORM_CHOICES",
                "LOCKSTEP_SPLIT_CONDITIONS",
                "LOCKSTEP_WHOLE_PIECES",
                "LOCKSTEP_ROUNDS_AT_ONCE",
            ]
            .map(versions);
        let vectorize = match configuration.unwrap_or(Some(Default::default())) {
            Some(configuration) => {
                let versions = Gangs { gates, unmasked_loops, all_true, in_turn, uniform_choices, ..Gangs::default() };
                Vectorize::Gangs(Gangs {
                    configuration,
                    width,
                    layout,
                    split_conditions,
                    whole_pieces,
                    rounds_at_once,
                    ..versions
                })
            }
            None => Vectorize::Scalar,
        };
        let is_on = |name: &str, default: bool| match text(name).as_deref().map(str::trim) {
            None => default,
            Some("1") => true,
            Some("0") => false,
            Some(value) => {
                eprintln!("lockstep: {name}={value} is not 0 or 1; ignored");
                default
            }
        };
        let cache = match text("LOCKSTEP_CACHE").as_deref().map(str::trim) {
            None => CachePlace::Memory,
            Some("off" | "0") => CachePlace::Off,
            // Wherever the application goes, the folder stays.
            Some(path) => std::path::absolute(path).map_or(CachePlace::Memory, CachePlace::Folder),
        };
        Options {
            vectorize,
            cache,
            cache_bytes: number("LOCKSTEP_CACHE_MB").unwrap_or(512).saturating_mul(1 << 20),
            specialize: is_on("LOCKSTEP_SPECIALIZE", true),
            flatten: is_on("LOCKSTEP_FLATTEN", true),
            streams: versions("LOCKSTEP_STREAMS"),
            clang: text("LOCKSTEP_CLANG").map(PathBuf::from),
            build_timeout: Duration::from_millis(number("LOCKSTEP_BUILD_TIMEOUT_MS").unwrap_or(60_000)),
            threads: number("LOCKSTEP_THREADS").map(|n| n.min(1024) as usize),
            simd: number("LOCKSTEP_SIMD").map(|bits| bits.min(512) as u32),
            dump: text("LOCKSTEP_DUMP").map(PathBuf::from),
            report: text("LOCKSTEP_REPORT").map(PathBuf::from),
            time: is_on("LOCKSTEP_TIME", false),
            identity: Identity {
                platform_name: text("LOCKSTEP_PLATFORM_NAME"),
                platform_vendor: text("LOCKSTEP_PLATFORM_VENDOR"),
                device_name: text("LOCKSTEP_DEVICE_NAME"),
                device_vendor: text("LOCKSTEP_DEVICE_VENDOR"),
            },
            search_path: None,
            temp_dir: PathBuf::from("/tmp"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_protocol::configuration::Configuration;
    use lockstep_protocol::layout::Layout;

    #[test]
    fn unset_and_empty_give_defaults() {
        for value in [None, Some(String::new())] {
            let options = Options::read(|_| value.clone());
            assert_eq!(options.clang, None);
            assert_eq!(options.build_timeout, Duration::from_secs(60));
            assert_eq!(options.threads, None);
            assert_eq!(options.dump, None);
            assert_eq!((options.cache, options.cache_bytes), (CachePlace::Memory, 512 << 20));
            assert!(options.specialize && options.flatten && !options.time);
            assert_eq!(options.report, None);
            assert_eq!(options.identity, Identity::default());
            assert_eq!(options.vectorize, Vectorize::Gangs(Gangs::default()));
        }
    }

    #[test]
    fn values_are_read_by_name() {
        let options = Options::read(|name| {
            Some(match name {
                "LOCKSTEP_VECTORIZE" => "boscc".into(),
                "LOCKSTEP_WIDTH" => "8".into(),
                "LOCKSTEP_LAYOUT" => "z".into(),
                "LOCKSTEP_SPECIALIZE" => "0".into(),
                "LOCKSTEP_TIME" => "1".into(),
                "LOCKSTEP_FLATTEN" => " 0".into(),
                "LOCKSTEP_STREAMS" => "always".into(),
                "LOCKSTEP_GATES" => "always".into(),
                "LOCKSTEP_UNMASKED_LOOPS" => "0".into(),
                "LOCKSTEP_ALL_TRUE" => " always".into(),
                "LOCKSTEP_IN_TURN" => "always".into(),
                "LOCKSTEP_UNIFORM_CHOICES" => "0 ".into(),
                "LOCKSTEP_SPLIT_CONDITIONS" => "always".into(),
                "LOCKSTEP_WHOLE_PIECES" => "always".into(),
                "LOCKSTEP_ROUNDS_AT_ONCE" => "0".into(),
                "LOCKSTEP_CLANG" => "/opt/clang".into(),
                "LOCKSTEP_BUILD_TIMEOUT_MS" => "250".into(),
                "LOCKSTEP_THREADS" => " 3 ".into(),
                "LOCKSTEP_REPORT" => "reports".into(),
                "LOCKSTEP_CACHE" => "/caches/one".into(),
                "LOCKSTEP_CACHE_MB" => "2".into(),
                "LOCKSTEP_DEVICE_VENDOR" => "A vendor".into(),
                _ => "dumps".to_string(),
            })
        });
        let gangs = Gangs {
            configuration: Configuration::Boscc,
            width: Some(8),
            layout: Some(Layout::Z),
            unmasked_loops: Versions::Never,
            all_true: Versions::Always,
            in_turn: Versions::Always,
            uniform_choices: Versions::Never,
            split_conditions: Versions::Always,
            whole_pieces: Versions::Always,
            rounds_at_once: Versions::Never,
            gates: Versions::Always,
            full_gangs: Versions::WherePays,
        };
        assert_eq!(options.vectorize, Vectorize::Gangs(gangs));
        assert_eq!(options.clang, Some("/opt/clang".into()));
        assert_eq!(options.build_timeout, Duration::from_millis(250));
        assert_eq!(options.threads, Some(3));
        assert!(!options.specialize && !options.flatten && options.time);
        assert_eq!(options.streams, Versions::Always);
        assert_eq!(options.dump, Some("dumps".into()));
        assert_eq!(options.report, Some("reports".into()));
        assert_eq!(options.identity.device_vendor, Some("A vendor".into()));
        assert_eq!((options.cache, options.cache_bytes), (CachePlace::Folder("/caches/one".into()), 2 << 20));
    }

    #[test]
    fn the_cache_is_off_or_somewhere() {
        let cache = |value: &str| Options::read(|name| (name == "LOCKSTEP_CACHE").then(|| value.into())).cache;
        assert_eq!(cache("off"), CachePlace::Off);
        assert_eq!(cache(" 0"), CachePlace::Off);
        let CachePlace::Folder(folder) = cache("here") else { panic!("not a folder") };
        assert!(folder.is_absolute() && folder.ends_with("here"));
        let usual =
            |caches: Option<&str>, home: Option<&str>| usual_cache(caches.map(Into::into), home.map(Into::into));
        assert_eq!(usual(Some("/c"), Some("/h")), CachePlace::Folder("/c/lockstep".into()));
        assert_eq!(usual(Some("c"), Some("/h")), CachePlace::Folder("/h/.cache/lockstep".into()));
        assert_eq!(usual(None, None), CachePlace::Memory);
    }

    #[test]
    fn bad_numbers_are_ignored() {
        let options = Options::read(|_| Some("many".into()));
        assert_eq!(options.threads, None);
        assert_eq!(options.build_timeout, Duration::from_secs(60));
    }

    #[test]
    fn table_lists_exactly_what_is_read() {
        let asked = std::cell::RefCell::new(Vec::new());
        Options::read(|name| {
            asked.borrow_mut().push(name.to_string());
            None
        });
        let mut asked = asked.into_inner();
        asked.sort();
        let mut listed: Vec<_> = TABLE.iter().map(|s| s.name.to_string()).collect();
        listed.sort();
        assert_eq!(asked, listed);
    }
}
