//! What debuggers and profilers learn of kernels' code: GDB's JIT interface and perf's map. For this driver only.

mod listed_objects;

use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use listed_objects::{DescribedCode, read_list};
use lockstep_conformance::child::in_child;
use lockstep_conformance::{Setup, is_lockstep, read, run};

const ITEMS: usize = 256;

/// A kernel whose work is in line 6.
const SOURCE: &str = "float damped(float value);
float damped(float value) { return value * 0.25f; }

kernel void scale_rows(global float *values, int factor) {
    size_t item = get_global_id(0);
    values[item] = damped(values[item]) * factor;
}
";

/// The file with names for perf of this process.
fn map_path() -> PathBuf {
    PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()))
}

/// The addresses of code that a kernel has in perf's map, with the names of the variants.
fn mapped_variants(kernel: &str) -> Vec<(Range<u64>, String)> {
    let text = std::fs::read_to_string(map_path()).unwrap_or_default();
    let parse_line = |line: &str| {
        let (start, rest) = line.split_once(' ')?;
        let (length, name) = rest.split_once(' ')?;
        let start = u64::from_str_radix(start, 16).ok()?;
        let length = u64::from_str_radix(length, 16).ok()?;
        Some((start..start + length, name.to_owned()))
    };
    let lines = text.lines().map(|line| parse_line(line).unwrap_or_else(|| panic!("the line {line}")));
    lines.filter(|(_, name)| name.starts_with(&format!("{kernel} ["))).collect()
}

/// Whether memory at these addresses may be executed.
fn is_executable(addresses: &Range<u64>) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the process describes itself");
    maps.lines().any(|line| {
        let (range, rest) = line.split_once(' ').expect("a range");
        let (start, end) = range.split_once('-').expect("two addresses");
        let [start, end] = [start, end].map(|address| u64::from_str_radix(address, 16).expect("an address"));
        rest.starts_with("r-x") && start <= addresses.start && addresses.end <= end
    })
}

/// Builds the kernel and runs it; the list is looked at while `inspect` runs, before anything is released.
fn run_kernel(options: &str, inspect: impl FnOnce()) {
    let setup = Setup::new();
    let program = setup.context.build(SOURCE, options);
    let kernel = program.kernel("scale_rows");
    let values = setup.context.with_values(&[2.0_f32; ITEMS]);
    kernel.set(0, &values);
    kernel.set(1, 6);
    run(&setup.queue, &kernel, &[ITEMS], &[64]);
    assert_eq!(read::<f32>(&setup.queue, &values), [3.0; ITEMS]);
    inspect();
}

/// Checks what is known of the kernel while it is in memory.
fn check_known_code() {
    let objects: Vec<DescribedCode> = read_list().iter().map(|bytes| DescribedCode::read_object(bytes)).collect();
    let variants = mapped_variants("scale_rows");
    assert!(!objects.is_empty() && objects.len() == variants.len(), "{objects:?}\n{variants:?}");
    for (addresses, name) in variants {
        assert!(name.contains("groups of 64 x 1 x 1"), "{name}");
        assert!(is_executable(&addresses), "{name} is elsewhere than {addresses:x?}");
        let has_start = |object: &&DescribedCode| {
            object.functions.iter().any(|(function, start)| function == "scale_rows" && *start == addresses.start)
        };
        let object = objects.iter().find(has_start).unwrap_or_else(|| panic!("{name}: {objects:?}"));
        assert_eq!(object.debug_names, ["scale_rows"]);
        let of_line = |wanted| object.lines.iter().filter(move |(.., line)| *line == wanted);
        assert!(of_line(6).count() > 0 && of_line(4).count() > 0, "{object:?}");
        for (address, file, line) in &object.lines {
            assert!((addresses.start..=addresses.end).contains(address), "{line}: {address:x} of {addresses:x?}");
            assert!(file.ends_with("program.cl") && *line <= 7, "{file}:{line}");
        }
    }
}

/// Checks that debuggers forget code that was released. What has it last may be a thread that lets go of it in a moment.
fn check_forgotten_code() {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !read_list().is_empty() {
        assert!(Instant::now() < deadline, "{} objects are left", read_list().len());
        std::thread::sleep(Duration::from_millis(5));
    }
    // What was recorded keeps its name.
    assert!(!mapped_variants("scale_rows").is_empty());
}

/// Runs the test's body in a process of its own; perf's map goes with it.
fn check_in_process(test: &str, environment: &[(&str, &str)], options: &str, is_known: bool) {
    if !is_lockstep() {
        return;
    }
    in_child(test, environment, || {
        // A process that had this number before.
        let _ = std::fs::remove_file(map_path());
        run_kernel(options, || match is_known {
            true => check_known_code(),
            false => assert!(read_list().is_empty(), "nobody asked for it"),
        });
        if is_known {
            check_forgotten_code();
            std::fs::remove_file(map_path()).expect("the map is there");
        }
        assert!(!map_path().exists());
    });
}

#[test]
fn a_switch_shows_names_and_lines() {
    check_in_process("a_switch_shows_names_and_lines", &[("LOCKSTEP_DEBUG", "1")], "", true);
}

#[test]
fn one_tier_shows_names_and_lines() {
    let environment = [("LOCKSTEP_DEBUG", "1"), ("LOCKSTEP_TIERS", "0")];
    check_in_process("one_tier_shows_names_and_lines", &environment, "", true);
}

#[test]
fn a_build_option_shows_names_and_lines() {
    check_in_process("a_build_option_shows_names_and_lines", &[("LOCKSTEP_DEBUG", "0")], "-g", true);
}

#[test]
fn without_a_wish_nothing_is_known() {
    check_in_process("without_a_wish_nothing_is_known", &[("LOCKSTEP_DEBUG", "0")], "", false);
}

#[test]
fn a_map_that_is_a_link_is_not_followed() {
    if !is_lockstep() {
        return;
    }
    let environment = [("LOCKSTEP_DEBUG", "1"), ("LOCKSTEP_LOG", "warn")];
    let output = in_child("a_map_that_is_a_link_is_not_followed", &environment, || {
        let target = std::env::temp_dir().join(format!("lockstep-map-target-{}", std::process::id()));
        std::fs::write(&target, "as it was").expect("it can be written");
        let _ = std::fs::remove_file(map_path());
        std::os::unix::fs::symlink(&target, map_path()).expect("a link");
        run_kernel("", || assert!(!read_list().is_empty(), "debuggers need no map"));
        let text = std::fs::read_to_string(&target).expect("it can be read");
        std::fs::remove_file(map_path()).and_then(|()| std::fs::remove_file(&target)).expect("both are there");
        assert_eq!(text, "as it was");
    });
    assert_eq!(output.stderr.matches("is not written").count(), 1, "{}", output.stderr);
}
