//! The table of switches: a row is all there is to one. It gives the name, the default and the meaning as
//! `docs/options.md` shows them, how a value is read, and values that are accepted and refused, which a test tries.

use std::path::PathBuf;
use std::time::Duration;

use lockstep_protocol::configuration::WIDTHS;
use lockstep_protocol::pass_switches::PassSwitch;
use tracing::level_filters::LevelFilter;

use super::values::{on_or_off, parse_number, parse_text, parse_versions};
use super::{CachePlace, Log, Reading};

/// An environment variable that the driver reads, with what the page of options says of it.
pub struct Switch {
    /// The environment variable.
    pub name: &'static str,
    /// What holds when it is not set.
    pub default: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// Takes a value over; or says what it is to be, and nothing changes.
    pub read: fn(&str, &mut Reading) -> Result<(), String>,
    /// A value that is accepted and changes something.
    pub accepted: &'static str,
    /// A value that is refused, unless all are accepted.
    pub refused: Option<&'static str>,
}

/// All switches, in the order of the page.
pub const TABLE: &[Switch] = &[
    Switch {
        name: "LOCKSTEP_COMPILER",
        default: "`lockstep-compiler` beside the driver",
        meaning: "path of the compiler's executable, which must be of the same build as the driver",
        read: |value, reading| parse_text(value, &mut reading.options.compiler),
        accepted: "/opt/lockstep-compiler",
        refused: None,
    },
    Switch {
        name: "LOCKSTEP_BUILD_TIMEOUT_MS",
        default: "60000",
        meaning: "milliseconds after which a job of the compiler is killed: a build then fails and its log says so; a kernel is compiled in its simplest form, and if that takes as long, its launch fails",
        read: |value, reading| {
            reading.options.build_timeout = Duration::from_millis(parse_number(value, 1..=u64::MAX)?);
            Ok(())
        },
        accepted: "250",
        refused: Some("0"),
    },
    Switch {
        name: "LOCKSTEP_INCLUDES",
        default: "1",
        meaning: "whether sources may read files of the system by `#include` and `#embed`, from the working directory and the folders of `-I`: 0 or 1; headers that the application gives to `clCompileProgram` are none",
        read: |value, reading| on_or_off(value, &mut reading.options.includes),
        accepted: "0",
        refused: Some("no"),
    },
    Switch {
        name: "LOCKSTEP_TIERS",
        default: "1",
        meaning: "whether a kernel first gets code that LLVM makes quickly, which code of the same plan with all of LLVM's passes, made in the background, replaces once it has run for 2 ms, by how many lanes were at work in loops until then: 1; or 0 for the latter at once, as it is with `LOCKSTEP_DUMP` and `LOCKSTEP_REPORT`. Results are the same to the bit.",
        read: |value, reading| on_or_off(value, &mut reading.options.tiers),
        accepted: "0",
        refused: Some("2"),
    },
    Switch {
        name: "LOCKSTEP_TRIALS",
        default: "1",
        meaning: "whether code of other widths and layouts, and of work-items one after the other, is made in the background of kernels that run for long, measured in turn with what the estimate took, in the application's own launches, and runs from then on where it takes less than 0.95 of the time: 0 or 1; or `always`, as tests want it: each other form is made at once and runs from then on, however fast it is. Results are the same to the bit; kernels have the one form that they have with sub-group functions, with flags that let LLVM reassociate, or where a width or a layout is asked for. It is as 0 with `LOCKSTEP_DUMP` and `LOCKSTEP_REPORT`.",
        read: |value, reading| {
            reading.options.trials = parse_versions(value)?;
            Ok(())
        },
        accepted: "0",
        refused: Some("2"),
    },
    Switch {
        name: "LOCKSTEP_LOOKAHEAD",
        default: "1",
        meaning: "whether, after a kernel's first launch, processors that are free make code of the program's next kernels that have kernel objects: 0 or 1. Of kernels that are never launched at most one gets code so, unless guesses were right before. It is as 0 with `LOCKSTEP_DUMP` and `LOCKSTEP_REPORT`.",
        read: |value, reading| on_or_off(value, &mut reading.options.lookahead),
        accepted: "0",
        refused: Some("2"),
    },
    Switch {
        name: "LOCKSTEP_THREADS",
        default: "the CPUs this process may use",
        meaning: "threads that run work-groups, the calling one included, at most 1024. The default is how many CPUs the affinity mask has, or what the least quota of the process's control groups and those above them comes to if that is less: 150 % of a CPU are two threads, 140 % are one, and so is anything below.",
        read: |value, reading| {
            reading.options.threads = Some(parse_number(value, 1..=1024)? as usize);
            Ok(())
        },
        accepted: " 3 ",
        refused: Some("1025"),
    },
    Switch {
        name: "LOCKSTEP_CACHE",
        default: "`lockstep` in `XDG_CACHE_HOME` or `~/.cache`",
        meaning: "folder that keeps what was compiled for later processes, or `off`; where it cannot be written, or others can write to it, what was compiled is kept in memory; files in it that are another user's or that others can write to are not taken",
        read: |value, reading| {
            reading.options.cache = parse_cache_place(value)?;
            Ok(())
        },
        accepted: "/caches/one",
        refused: Some("on"),
    },
    Switch {
        name: "LOCKSTEP_CACHE_MB",
        default: "512",
        meaning: "mebibytes that folder may take; what was not used for the longest time goes",
        read: |value, reading| {
            reading.options.cache_bytes = parse_number(value, 1..=u64::MAX)?.saturating_mul(1 << 20);
            Ok(())
        },
        accepted: "2",
        refused: Some("many"),
    },
    Switch {
        name: "LOCKSTEP_DUMP",
        default: "nothing",
        meaning: "folder that receives each kernel's IR after every pass, its LLVM IR and assembly: `KERNEL.NUMBER-PASS.pir` with the numbers of [passes.md](passes.md)",
        read: |value, reading| parse_text(value, &mut reading.options.dump),
        accepted: "dumps",
        refused: None,
    },
    Switch {
        name: "LOCKSTEP_REPORT",
        default: "nothing",
        meaning: "folder that receives, as text and JSON, what became of each kernel's loads, stores, branches and loops and why: see [report.md](report.md)",
        read: |value, reading| parse_text(value, &mut reading.options.report),
        accepted: "reports",
        refused: None,
    },
    Switch {
        name: "LOCKSTEP_DEBUG",
        default: "0",
        meaning: "whether debuggers and profilers see the code of kernels: 1, or 0 for that of programs alone that are built with `-g`. GDB gets an object with the name and the source lines of each kernel's code while it is in memory (GDB's JIT interface), perf a line in `/tmp/perf-PID.map` with the kernel's name and how its work-items run.",
        read: |value, reading| on_or_off(value, &mut reading.options.debug),
        accepted: "1",
        refused: Some("gdb"),
    },
    Switch {
        name: "LOCKSTEP_TIME",
        default: "0",
        meaning: "whether how long each pass takes goes to standard error: of a program's build clang, link, clean-up, import and the passes of programs, of a kernel's compilation its instructions after the import, what the first tier had counted of its loops, and every pass, over all regions (the estimates of widths are `width_selection`), LLVM's `optimize` and `emit` apart, and `link`; in milliseconds, a line each (`cargo xtask bench compile_scaling` reads them): 0 or 1",
        read: |value, reading| on_or_off(value, &mut reading.options.time),
        accepted: "1",
        refused: Some("yes"),
    },
    Switch {
        name: "LOCKSTEP_STRICT",
        default: "0",
        meaning: "whether a mistake of the driver in a pass or in code generation is an error of the launch, as tests and fuzzers want it: 1; or 0 for the kernel's simplest form (one work-item after the other, sub-groups in gangs without passes that code need not have), which the report says and standard error, once of a kernel",
        read: |value, reading| on_or_off(value, &mut reading.options.strict),
        accepted: "1",
        refused: Some("yes"),
    },
    Switch {
        name: "LOCKSTEP_LOG",
        default: "`off`",
        meaning: "what is logged, a line each: `error` each call and each command that fails, with what is wrong and the code's name, as `lockstep: clCreateBuffer: a buffer of 70368744177664 bytes; 12638259200 are allowed [CL_INVALID_BUFFER_SIZE]`; `warn` also what works but not as it could (a cache that cannot be used, a job of the compiler that failed), as `lockstep: warn: cache: …`; `info` also each build, each variant of a kernel's code and its last tier, with their times; `debug` also jobs of the compiler, what the cache has and keeps, launches, and the driver's beginning and end; `off` nothing. Lines go to standard error or, by `LEVEL:FILE`, to the end of a file, with the time in UTC and the number of the process before them; several processes may share the file.",
        read: |value, reading| {
            reading.options.log = parse_log(value)?;
            Ok(())
        },
        accepted: "info:/logs/one",
        refused: Some("all"),
    },
    Switch {
        name: "LOCKSTEP_VECTORIZE",
        default: "`unicf`",
        meaning: "how work-items run together in the lanes of vectors: `scalar` (one after the other), `naive` (every value a vector, every branch folded), `unival` (uniform values are scalars), `boscc` (and folded code that no lane runs is skipped), `unicf` (and uniform branches stay branches); kernels whose sub-groups do something together run so as well where `scalar` is asked for",
        read: read_vectorization,
        accepted: "boscc",
        refused: Some("fast"),
    },
    Switch {
        name: "LOCKSTEP_WIDTH",
        default: "as fits the kernel",
        meaning: "work-items that run together: 2, 4, 8, 16, 32 or 64; sub-groups have as many as the kernel asks for (`intel_reqd_sub_group_size`), else 16, all the same",
        read: |value, reading| {
            let width = value.trim().parse().ok().filter(|width| WIDTHS.contains(width));
            reading.gangs.width = Some(width.ok_or("is not 2, 4, 8, 16, 32 or 64")?);
            Ok(())
        },
        accepted: "8",
        refused: Some("3"),
    },
    Switch {
        name: "LOCKSTEP_LAYOUT",
        default: "as fits the kernel in `unicf`; `x` in the others or where `LOCKSTEP_WIDTH` is given",
        meaning: "which work-items run together, wherever that is possible: consecutive ones along `x`, `y` or `z`, several rows of a small group, a `tile`, or those with consecutive `linear` ids",
        read: |value, reading| {
            let layout = value.trim().parse().map_err(|()| "is not x, y, z, tile or linear");
            reading.gangs.layout = Some(layout?);
            Ok(())
        },
        accepted: "z",
        refused: Some("w"),
    },
    Switch {
        name: "LOCKSTEP_SIMD",
        default: "the machine's",
        meaning: "bits of the widest vector registers to use: 128, 256 or 512",
        read: |value, reading| {
            let vector_bits = value.trim().parse().ok().filter(|vector_bits| [128, 256, 512].contains(vector_bits));
            reading.options.simd = Some(vector_bits.ok_or("is not 128, 256 or 512")?);
            Ok(())
        },
        accepted: "256",
        refused: Some("100"),
    },
    Switch {
        name: "LOCKSTEP_PASSES",
        default: "all where they are expected to pay",
        meaning: "switches passes, in a list with commas that holds from left to right: `-name` nowhere, `+name` where it is expected to pay, `name=always` wherever it is possible; the names are below, and `all` stands for every one: `LOCKSTEP_PASSES=-all,+gates`",
        read: |value, reading| {
            let parsed_passes = reading.gangs.passes.with_list(&with_present_names(value));
            reading.gangs.passes =
                parsed_passes.map_err(|unknown_names| format!("is not understood: {}", unknown_names.join(", ")))?;
            Ok(())
        },
        accepted: "-per_lane_loops,gates=always",
        refused: Some("-gatess"),
    },
    Switch {
        name: "LOCKSTEP_SCALAR_REPLACEMENT",
        default: "`ssrqp`",
        meaning: "where loads make way for what accesses of earlier iterations, or on other paths, left in registers (pass `scalar_replacement`), also of work-items that run one after the other: `0` nowhere; `srqp` wherever the loads that other paths lack can be inserted; `esrqp` where none is inserted where lanes have parted; `ssrqp_s`, loads also move in front of branches from which every path accesses the place; `ssrqp`, in front of those alone at which lanes part",
        read: |value, reading| {
            let form = value.trim().parse().map_err(|()| "is not 0, srqp, esrqp, ssrqp_s or ssrqp");
            reading.options.scalar_replacement = form?;
            Ok(())
        },
        accepted: "esrqp",
        refused: Some("1"),
    },
    Switch {
        name: "LOCKSTEP_SPECIALIZE",
        default: "1",
        meaning: "whether code is made for what holds of a launch (its local size, ids that fit into an int, …): 1, or 0 for code that runs every launch",
        read: |value, reading| on_or_off(value, &mut reading.options.specialize),
        accepted: "0",
        refused: Some("2"),
    },
    Switch {
        name: "LOCKSTEP_STREAMS",
        default: "1",
        meaning: "whether stores go past the caches through pointers that a kernel only writes to, once in each place: 1 in launches that touch more than the caches keep, 0 nowhere, `always` in all launches",
        read: |value, reading| {
            reading.options.streams = parse_versions(value)?;
            Ok(())
        },
        accepted: " always",
        refused: Some("never"),
    },
    Switch {
        name: "LOCKSTEP_FLATTEN",
        default: "1",
        meaning: "whether kernels that cannot tell which group a work-item is in (no barrier, local memory or question about groups) run in groups of the driver's choosing: 1, or 0 for the application's",
        read: |value, reading| on_or_off(value, &mut reading.options.flatten),
        accepted: "0",
        refused: Some("off"),
    },
    Switch {
        name: "LOCKSTEP_PLATFORM_NAME",
        default: "`Lockstep`",
        meaning: "what the platform gives as its name, for applications that look for others'",
        read: |value, reading| parse_text(value, &mut reading.options.identity.platform_name),
        accepted: "A platform",
        refused: None,
    },
    Switch {
        name: "LOCKSTEP_PLATFORM_VENDOR",
        default: "`Lockstep`",
        meaning: "what the platform gives as its vendor",
        read: |value, reading| parse_text(value, &mut reading.options.identity.platform_vendor),
        accepted: "A vendor",
        refused: None,
    },
    Switch {
        name: "LOCKSTEP_DEVICE_NAME",
        default: "the processor's name",
        meaning: "what the device gives as its name",
        read: |value, reading| parse_text(value, &mut reading.options.identity.device_name),
        accepted: "A device",
        refused: None,
    },
    Switch {
        name: "LOCKSTEP_DEVICE_VENDOR",
        default: "`Lockstep`",
        meaning: "what the device gives as its vendor",
        read: |value, reading| parse_text(value, &mut reading.options.identity.device_vendor),
        accepted: "Its maker",
        refused: None,
    },
];

/// Variables of their own that switches of passes once had: 1 where it is expected to pay, 0 nowhere, or `always`.
/// `LOCKSTEP_PASSES` holds where both say something.
pub const ALIASES: &[(&str, PassSwitch)] = &[
    ("LOCKSTEP_GATES", PassSwitch::Gates),
    ("LOCKSTEP_UNMASKED_LOOPS", PassSwitch::UnmaskedLoops),
    ("LOCKSTEP_ALL_TRUE", PassSwitch::CoherentBranches),
    ("LOCKSTEP_IN_TURN", PassSwitch::PerLaneLoops),
    ("LOCKSTEP_UNIFORM_CHOICES", PassSwitch::UnswitchSelects),
    ("LOCKSTEP_SPLIT_CONDITIONS", PassSwitch::SplitConditions),
    ("LOCKSTEP_WHOLE_PIECES", PassSwitch::Divisibility),
    ("LOCKSTEP_ROUNDS_AT_ONCE", PassSwitch::PartialUnroll),
];

/// Where what was compiled is kept: `off`, or a folder.
fn parse_cache_place(value: &str) -> Result<CachePlace, String> {
    match value.trim() {
        "off" | "0" | "no" => Ok(CachePlace::Off),
        "on" | "1" | "yes" => Err("is not a folder or off; for the usual folder leave it out".into()),
        // Wherever the application goes, the folder stays.
        path => Ok(CachePlace::Folder(std::path::absolute(path).map_err(|error| error.to_string())?)),
    }
}

/// What is logged, and where: `LEVEL` or `LEVEL:FILE`.
fn parse_log(value: &str) -> Result<Log, String> {
    let (level, file) = match value.split_once(':') {
        Some((level, file)) => (level, Some(file)),
        None => (value, None),
    };
    let level = match level.trim() {
        "off" => LevelFilter::OFF,
        "error" => LevelFilter::ERROR,
        "warn" => LevelFilter::WARN,
        "info" => LevelFilter::INFO,
        "debug" => LevelFilter::DEBUG,
        _ => return Err("is not off, error, warn, info or debug, or one of these, a colon and a file".into()),
    };
    // Wherever the application goes, the file stays. An empty path is an error.
    let file = file.map(std::path::absolute).transpose().map_err(|error| error.to_string())?;
    Ok(Log { level, file })
}

/// Takes over how work-items run together: `scalar`, or the name of a configuration of gangs.
fn read_vectorization(value: &str, reading: &mut Reading) -> Result<(), String> {
    match value.trim() {
        "scalar" => reading.is_scalar = true,
        name => {
            let wanted = || "is not scalar, naive, unival, boscc or unicf".to_owned();
            reading.gangs.configuration = name.parse().map_err(|()| wanted())?;
        }
    }
    Ok(())
}

/// A list of `LOCKSTEP_PASSES` in which switches have the names that they have now. It may have those by which their
/// variables are called, in small letters: `-in_turn` of `LOCKSTEP_IN_TURN`.
fn with_present_names(pass_list: &str) -> String {
    pass_list.split(',').map(with_present_name).collect::<Vec<_>>().join(",")
}

/// A word of such a list, with the name that its switch has now.
fn with_present_name(word: &str) -> String {
    let name = word.trim().trim_start_matches(['-', '+']).trim_end_matches("=always");
    let variable = format!("LOCKSTEP_{}", name.to_ascii_uppercase());
    match ALIASES.iter().find(|(alias, _)| *alias == variable) {
        Some((_, switch)) => word.replace(name, switch.name()),
        None => word.to_owned(),
    }
}

/// The folders that somebody asked to have filled, by the switch that names each.
pub fn named_folders(reading: &super::Options) -> impl Iterator<Item = (&'static str, &PathBuf)> {
    let cache = match &reading.cache {
        CachePlace::Folder(folder) => Some(folder),
        CachePlace::Off | CachePlace::Memory => None,
    };
    let folders = [
        ("LOCKSTEP_DUMP", reading.dump.as_ref()),
        ("LOCKSTEP_REPORT", reading.report.as_ref()),
        ("LOCKSTEP_CACHE", cache),
    ];
    folders.into_iter().filter_map(|(name, folder)| Some((name, folder?)))
}
