//! The cache on disk: what one process compiled, another one finds; what has changed, is damaged or cannot be stored is
//! compiled. For this driver only. Each use is a process of its own, whose compiler is a stand-in that counts its runs.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use lockstep_conformance::child::{Output, in_child};
use lockstep_conformance::stand_in::real_compiler;
use lockstep_conformance::{Random, Setup, is_lockstep, ok, read, run};

const SOURCE: &str = "kernel void f(global int *out) { out[get_global_id(0)] = NUMBER + (int)get_global_id(0); }";
const WITH_HEADER: &str = "#include \"number.h\"\n\
    kernel void f(global int *out) { out[get_global_id(0)] = NUMBER + (int)get_global_id(0); }";

/// Folders of one test: a cache that is not there yet, headers, and the compiler.
struct Place {
    root: PathBuf,
    test: &'static str,
}

impl Place {
    fn new(test: &'static str) -> Place {
        let root = std::env::temp_dir().join(format!("lockstep-cache-{test}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        for folder in ["first", "second"] {
            std::fs::create_dir_all(root.join(folder)).expect("a folder");
        }
        let place = Place { root, test };
        // Sources come as they are, so builds are told from jobs that make code. The first request comes behind its length.
        let script = format!(
            "#!/bin/sh\n\
             head -c 8 > \"$0.$$.length\"\n\
             head -c $(od -An -tu8 \"$0.$$.length\") > \"$0.$$\"\n\
             grep -aq 'kernel void' \"$0.$$\" && echo run >> '{}'\n\
             cat \"$0.$$.length\" \"$0.$$\" - | '{}'\n",
            place.path("runs").display(),
            real_compiler().display()
        );
        let compiler = place.path("compiler");
        std::fs::write(&compiler, script).expect("a script");
        std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755)).expect("an executable script");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("a plain path").to_owned()
    }

    /// A header, old enough for a compilation that begins now to have read it as it is.
    fn header(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file");
        std::thread::sleep(Duration::from_millis(60));
    }

    /// The files of the cache.
    fn entries(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.path("cache")) else { return Vec::new() };
        entries.map(|entry| entry.expect("an entry").path()).collect()
    }

    /// How often sources were compiled so far.
    fn runs(&self) -> usize {
        std::fs::read_to_string(self.path("runs")).map_or(0, |runs| runs.lines().count())
    }

    /// Builds and runs a program in a process of its own, as often as `CACHE_TIMES` says, and returns what it printed.
    fn process(&self, source: &str, options: &str, more: &[(&str, &str)]) -> Output {
        let (cache, compiler) = (self.text("cache"), self.text("compiler"));
        let mut environment = vec![
            ("LOCKSTEP_CACHE", cache.as_str()),
            ("LOCKSTEP_COMPILER", compiler.as_str()),
            ("CACHE_SOURCE", source),
            ("CACHE_OPTIONS", options),
        ];
        environment.extend_from_slice(more);
        self.run_in_child(&environment, || {
            let setup = Setup::new();
            let [source, options] = ["CACHE_SOURCE", "CACHE_OPTIONS"].map(|name| std::env::var(name).expect("set"));
            let times = std::env::var("CACHE_TIMES").map_or(1, |times| times.parse().expect("a number"));
            for _ in 0..times {
                println!("{}", built_and_run(&setup, &source, &options));
            }
        })
    }

    /// Runs `body` in a process of its own, which uses these folders by its environment.
    #[track_caller]
    fn run_in_child(&self, environment: &[(&str, &str)], body: impl FnOnce()) -> Output {
        in_child(self.test, environment, || {
            // There it has folders of its own, and nothing is dropped.
            let _ = std::fs::remove_dir_all(&self.root);
            body();
        })
    }

    /// The same, with what the kernel makes of work-item 0.
    fn number(&self, source: &str, options: &str) -> i32 {
        self.process(source, options, &[]).stdout.trim().parse().expect("a number")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

/// What the kernel `f` makes of work-item 0; the others follow it.
fn built_and_run(setup: &Setup, source: &str, options: &str) -> i32 {
    let program = setup.context.build(source, options);
    let kernel = program.kernel("f");
    let out = setup.context.zeros::<i32>(256);
    kernel.set(0, &out);
    run(&setup.queue, &kernel, &[256], &[64]);
    let values = read::<i32>(&setup.queue, &out);
    let expected: Vec<i32> = (0..256).map(|id| values[0] + id).collect();
    assert_eq!(values, expected);
    values[0]
}

/// Which file is which, to see whether one was written again.
fn identities(files: &[PathBuf]) -> Vec<(PathBuf, u64)> {
    let mut known: Vec<_> = files.iter().map(|path| (path.clone(), path.metadata().expect("a file").ino())).collect();
    known.sort();
    known
}

#[test]
fn another_process_compiles_nothing() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("another_process_compiles_nothing");
    assert_eq!(place.number(SOURCE, "-DNUMBER=5"), 5);
    assert_eq!((place.runs(), place.entries().len()), (1, 2), "the program and the kernel's code");
    let mode = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&place.path("cache")), 0o700);
    assert!(place.entries().iter().all(|entry| mode(entry) == 0o600));
    let before = identities(&place.entries());
    assert_eq!(place.number(SOURCE, "-DNUMBER=5"), 5);
    assert_eq!(place.runs(), 1);
    assert_eq!(identities(&place.entries()), before, "nothing was made again");
}

#[test]
fn options_sources_and_switches_count() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("options_sources_and_switches_count");
    for (number, runs) in [(5, 1), (6, 2), (5, 2), (6, 2)] {
        assert_eq!(place.number(SOURCE, &format!("-DNUMBER={number}")), number);
        assert_eq!(place.runs(), runs);
    }
    assert_eq!(place.number(&SOURCE.replace("NUMBER", "7"), "-DNUMBER=5"), 7);
    assert_eq!(place.runs(), 3);
    // Other code of the same program.
    let before = place.entries().len();
    place.process(SOURCE, "-DNUMBER=5", &[("LOCKSTEP_VECTORIZE", "scalar")]);
    assert_eq!((place.runs(), place.entries().len()), (3, before + 1));
}

#[test]
fn off_is_off() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("off_is_off");
    place.process(SOURCE, "-DNUMBER=5", &[("LOCKSTEP_CACHE", "off"), ("CACHE_TIMES", "3")]);
    assert_eq!((place.runs(), place.path("off").exists()), (3, false));
}

#[test]
fn headers_count_by_their_contents() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("headers_count_by_their_contents");
    let options = format!("-I {} -I {}", place.text("first"), place.text("second"));
    let expect = |number: i32, runs: usize| {
        assert_eq!(place.number(WITH_HEADER, &options), number);
        assert_eq!(place.runs(), runs);
    };
    place.header("second/deeper.h", "#define NUMBER 10\n");
    place.header("second/number.h", "#include \"deeper.h\"\n");
    expect(10, 1);
    expect(10, 1);
    place.header("second/deeper.h", "#define NUMBER 20\n");
    expect(20, 2);
    expect(20, 2);
    // The same text written again is the same header.
    place.header("second/deeper.h", "#define NUMBER 20\n");
    expect(20, 2);
    // One that is found before it.
    place.header("first/number.h", "#define NUMBER 30\n");
    expect(30, 3);
    expect(30, 3);
    std::fs::remove_file(place.path("first/number.h")).expect("it was there");
    expect(20, 4);
}

#[test]
fn the_time_is_asked_every_time() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("the_time_is_asked_every_time");
    let source = format!("constant char when[] = __TIME__;\n{SOURCE}");
    for runs in [1, 2] {
        assert_eq!(place.number(&source, "-DNUMBER=5"), 5);
        assert_eq!(place.runs(), runs);
    }
}

#[test]
fn the_time_is_asked_every_time_under_any_name() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("the_time_is_asked_every_time_under_any_name");
    let pasted = "#define JOIN(a, b) a##b\nconstant char when[] = JOIN(__TI, ME__);";
    let continued = "constant char when[] = __TI\\\nME__;";
    let mut runs = 0;
    for (when, options) in [
        (pasted, "-DNUMBER=5"),
        (continued, "-DNUMBER=5"),
        ("constant char when[] = LATE;", "-DNUMBER=5 -DLATE=\"__TI\"'ME__'"),
        ("constant char when[] = JOIN(ME__);", "-DNUMBER=5 -DJOIN(a)=__TI##a"),
    ] {
        let source = format!("{when}\n{SOURCE}");
        for _ in 0..2 {
            assert_eq!(place.number(&source, options), 5);
            runs += 1;
            assert_eq!(place.runs(), runs, "{when}");
        }
    }
}

/// What somebody else could have written, or what never ends, is no entry: neither read nor run, and made again.
#[test]
fn entries_of_doubtful_origin_are_not_taken() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("entries_of_doubtful_origin_are_not_taken");
    let replace = |entry: &Path, command: &str| {
        let script = format!("rm -f \"$0\" && {command} \"$0\"");
        let status = std::process::Command::new("sh").arg("-c").arg(script).arg(entry).status();
        assert!(status.expect("there is a shell").success());
    };
    let treatments: [&dyn Fn(&Path); 6] = [
        &|_| {},
        &|entry| std::fs::set_permissions(entry, std::fs::Permissions::from_mode(0o666)).expect("a file"),
        &|entry| std::fs::set_permissions(entry, std::fs::Permissions::from_mode(0o664)).expect("a file"),
        &|entry| replace(entry, "mkfifo"),
        &|entry| replace(entry, "ln -s /dev/zero"),
        &|entry| {
            if std::os::unix::fs::chown(entry, Some(1), None).is_err() {
                // Only an administrator gives files away; everybody can lead to one that is not theirs.
                replace(entry, "ln -s /etc/passwd");
            }
        },
    ];
    for (number, treat) in treatments.iter().enumerate() {
        place.entries().iter().for_each(|entry| treat(entry));
        assert_eq!(place.number(SOURCE, "-DNUMBER=5"), 5);
        // The first finds nothing.
        assert_eq!(place.runs(), number + 1, "treatment {number}");
        let entries = place.entries();
        assert_eq!(entries.len(), 2);
        assert!(entries.iter().all(|entry| entry.symlink_metadata().is_ok_and(|meta| meta.mode() == 0o100_600)));
    }
    // A folder in the place of an entry stays, and memory serves.
    for entry in place.entries() {
        std::fs::remove_file(&entry).expect("an entry");
        std::fs::create_dir(&entry).expect("a free name");
    }
    assert_eq!(place.process(SOURCE, "-DNUMBER=5", &[("CACHE_TIMES", "3")]).stdout, "5\n5\n5\n");
    assert_eq!(place.runs(), treatments.len() + 1);
    assert!(place.entries().len() == 2 && place.entries().iter().all(|entry| entry.is_dir()));
}

#[test]
fn messages_come_back() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("messages_come_back");
    let source = format!("#warning remember this\n{}", SOURCE.replace("NUMBER", "1"));
    let cache = place.text("cache");
    let logs = [0, 1].map(|_| {
        let environment = [("LOCKSTEP_CACHE", &*cache), ("CACHE_SOURCE", &*source)];
        place
            .run_in_child(&environment, || {
                let program = Setup::new().context.source(&std::env::var("CACHE_SOURCE").expect("set"));
                ok(program.build(""));
                println!("{}", program.log());
            })
            .stdout
    });
    assert!(logs[0].contains("remember this"), "{}", logs[0]);
    assert_eq!(logs[0], logs[1]);
    assert_eq!(place.entries().len(), 1);
}

/// Files are changed under a running process, which finds that out each time.
#[test]
fn damaged_entries_are_made_again() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("damaged_entries_are_made_again");
    let cache = place.text("cache");
    place.run_in_child(&[("LOCKSTEP_CACHE", &*cache)], || {
        let setup = Setup::new();
        let folder = PathBuf::from(std::env::var("LOCKSTEP_CACHE").expect("set"));
        let mut random = Random::new(77);
        for round in 0..80 {
            assert_eq!(built_and_run(&setup, SOURCE, "-DNUMBER=5"), 5, "round {round}");
            let mut entries: Vec<_> =
                std::fs::read_dir(&folder).expect("it is there").map(|entry| entry.expect("an entry").path()).collect();
            entries.sort();
            assert_eq!(entries.len(), 2);
            let path = &entries[random.below(2)];
            let mut bytes = std::fs::read(path).expect("an entry");
            let at = random.below(bytes.len());
            match round % 4 {
                0 => bytes.truncate(at),
                1 => bytes[at] ^= 1 << random.below(8),
                2 => bytes[at..].fill(0),
                // A name that stands for another entry.
                _ => bytes = std::fs::read(&entries[random.below(2)]).expect("an entry"),
            }
            std::fs::write(path, bytes).expect("an entry");
        }
    });
}

#[test]
fn eight_processes_share_a_folder() {
    if !is_lockstep() {
        return;
    }
    let test = "eight_processes_share_a_folder";
    let one = |process: &str, cache: &str| {
        in_child(test, &[("LOCKSTEP_CACHE", cache), ("CACHE_PROCESS", process)], || {
            let setup = Setup::new();
            let process: usize = std::env::var("CACHE_PROCESS").expect("set").parse().expect("a number");
            for round in 0..24 {
                // Each begins elsewhere, so that some write while others read.
                let number = ((round + process) % 12) as i32;
                assert_eq!(built_and_run(&setup, SOURCE, &format!("-DNUMBER={number}")), number);
            }
        });
    };
    // This is one of them.
    if std::env::var_os("CACHE_PROCESS").is_some() {
        one("", "");
    }
    let place = Place::new(test);
    let cache = place.text("cache");
    std::thread::scope(|scope| {
        for process in 0..8 {
            let (one, cache) = (&one, &cache);
            scope.spawn(move || one(&process.to_string(), cache));
        }
    });
    let unfinished = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().contains("new-"));
    assert_eq!(place.entries().len(), 24);
    assert!(!place.entries().iter().any(unfinished));
}

#[test]
fn where_nothing_can_be_written_memory_serves() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("where_nothing_can_be_written_memory_serves");
    // Not even the administrator makes folders there.
    let nowhere = [("LOCKSTEP_CACHE", "/proc/lockstep"), ("CACHE_TIMES", "3")];
    for runs in [1, 2] {
        let output = place.process(SOURCE, "-DNUMBER=5", &nowhere);
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("5\n5\n5\n", ""));
        assert_eq!(place.runs(), runs, "once for the process");
    }
    assert!(place.entries().is_empty());
}

#[test]
fn the_folder_keeps_to_its_size() {
    if !is_lockstep() {
        return;
    }
    let place = Place::new("the_folder_keeps_to_its_size");
    let cache = place.text("cache");
    place.run_in_child(&[("LOCKSTEP_CACHE", &*cache), ("LOCKSTEP_CACHE_MB", "1")], || {
        let setup = Setup::new();
        for number in 0..40 {
            // A table of random bytes, as nothing could be told from it.
            let bytes = Random::new(number).bytes(20_000);
            let table: Vec<_> = bytes.iter().map(u8::to_string).collect();
            let source = format!("constant uchar table[] = {{{}}};\n{SOURCE}", table.join(","));
            let source = source.replace("NUMBER", "table[get_global_size(0)]");
            assert_eq!(built_and_run(&setup, &source, ""), i32::from(bytes[256]));
        }
    });
    let size: u64 = place.entries().iter().map(|path| path.metadata().expect("a file").len()).sum();
    assert!(size <= 1 << 20 && size > 1 << 19, "{size} bytes in {} files", place.entries().len());
    assert!(place.entries().len() < 80);
}
