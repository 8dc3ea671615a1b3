//! What the process may still do once it has read its request: sources are hostile, and clang and LLVM have mistakes.
//!
//! Landlock leaves it the folders that the program includes from, to be read, and the folder for dumps, to be written. Seccomp leaves it
//! the system calls that compiling takes: no network, no other process, no file that is written. Either may be missing, in an old
//! kernel or a container that forbids it, and the job is done all the same.

use std::path::{Component, Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus,
};
use lockstep_protocol::build_options::Macro;
use lockstep_protocol::job::{Job, Request, SourceFiles};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// The newest rules that this code knows; an older kernel keeps those that it knows.
const NEWEST: ABI = ABI::V5;

/// As many entries of folders are searched for links to files elsewhere.
const MOST_ENTRIES: usize = 1024;

/// What of the file system a job needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Folders and files that may be read.
    pub readable: Vec<PathBuf>,
    /// The folder that may be written to.
    pub writable: Option<PathBuf>,
}

impl Needs {
    /// What a request needs: sources that include anything may do so from the working directory and the folders that their options
    /// name, also as values of macros, of which the names of included files are put together.
    pub fn of_request(request: &Request) -> Needs {
        let mut readable = match &request.job {
            Job::CompileSource(files) | Job::BuildProgram(files) if files.reads_files && may_include(files) => {
                let named = files.options.include_dirs.iter().map(PathBuf::from);
                let by_macros = files.options.macros.iter().filter_map(path_of_macro);
                named.chain([PathBuf::from(".")]).chain(by_macros).collect()
            }
            _ => Vec::new(),
        };
        let mut entries_left = MOST_ENTRIES;
        let targets: Vec<PathBuf> =
            readable.iter().flat_map(|folder| link_targets(folder, &mut entries_left)).collect();
        readable.extend(targets);
        Needs { readable, writable: request.dump.clone() }
    }
}

/// The absolute path that a macro stands for, quoted or not, if it does; not that of the whole file system.
fn path_of_macro(definition: &Macro) -> Option<PathBuf> {
    let Macro::Define(definition) = definition else { return None };
    let (_, value) = definition.split_once('=')?;
    let path = Path::new(value.trim_matches(|sign: char| sign == '"' || sign.is_whitespace()));
    let names_place = path.is_absolute() && path.components().any(|part| matches!(part, Component::Normal(_)));
    names_place.then(|| path.to_owned())
}

/// Whether a source or one of its headers may ask for a file: the words stand there, or a line that goes on in the next one, or a
/// trigraph, may hide them.
fn may_include(files: &SourceFiles) -> bool {
    const SIGNS: [&[u8]; 4] = [b"include", b"embed", b"\\", b"??"];
    // A SPIR-V module includes nothing.
    if files.specialization.is_some() {
        return false;
    }
    let has_sign = |text: &[u8]| SIGNS.iter().any(|sign| text.windows(sign.len()).any(|window| window == *sign));
    has_sign(&files.source) || files.headers.iter().any(|header| has_sign(&header.source))
}

/// Where the links in a folder and the folders in it lead to. A rule for a folder does not hold for these.
fn link_targets(folder: &Path, entries_left: &mut usize) -> Vec<PathBuf> {
    let mut targets = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if *entries_left == 0 {
                return targets;
            }
            *entries_left -= 1;
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => targets.extend(std::fs::canonicalize(entry.path())),
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ => {}
            }
        }
    }
    targets
}

/// What of it holds from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// Whether files are out of reach, in part on old kernels.
    pub files: bool,
    /// Whether system calls are refused.
    pub calls: bool,
}

/// Confines the calling thread, and all that it starts, for good.
pub fn confine_thread(needs: &Needs) -> Confinement {
    let files = restrict_files(needs).is_ok_and(|status| status != RulesetStatus::NotEnforced);
    let calls = restrict_calls(needs.writable.is_some()).is_ok();
    Confinement { files, calls }
}

fn restrict_files(needs: &Needs) -> Result<RulesetStatus, RulesetError> {
    let ruleset =
        Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(AccessFs::from_all(NEWEST))?;
    let mut ruleset = ruleset.create()?;
    for path in &needs.readable {
        ruleset = allow_path(ruleset, path, AccessFs::from_read(NEWEST) & !AccessFs::Execute)?;
    }
    if let Some(folder) = &needs.writable {
        // Landlock knows folders that are there.
        let _ = std::fs::create_dir_all(folder);
        ruleset = allow_path(ruleset, folder, AccessFs::from_all(NEWEST) & !AccessFs::Execute)?;
    }
    Ok(ruleset.restrict_self()?.ruleset)
}

/// Adds a rule for a path, if something is there.
fn allow_path(
    ruleset: RulesetCreated,
    path: &Path,
    accesses: landlock::BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(descriptor) = PathFd::new(path) else { return Ok(ruleset) };
    // Of a file only some of it can be said.
    let accesses = if path.is_dir() { accesses } else { accesses & AccessFs::from_file(NEWEST) };
    ruleset.add_rule(PathBeneath::new(descriptor, accesses))
}

/// The system calls that compiling takes, whatever their arguments.
const NEEDED_CALLS: &[i64] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pwrite64,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_fcntl,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_access,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlink,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getrlimit,
    libc::SYS_getrusage,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Those that writing dumps takes besides.
const DUMP_CALLS: &[i64] = &[libc::SYS_mkdir, libc::SYS_mkdirat, libc::SYS_ftruncate, libc::SYS_fsync];

/// Refuses all other system calls; files are opened to be read only, unless there are dumps.
fn restrict_calls(writes_dumps: bool) -> Result<(), Box<dyn std::error::Error>> {
    let dump_calls = if writes_dumps { DUMP_CALLS } else { &[] };
    let mut rules: std::collections::BTreeMap<i64, Vec<SeccompRule>> =
        NEEDED_CALLS.iter().chain(dump_calls).map(|&call| (call, Vec::new())).collect();
    for (call, flags_argument) in [(libc::SYS_open, 1), (libc::SYS_openat, 2)] {
        let condition =
            if writes_dumps { Vec::new() } else { vec![SeccompRule::new(vec![only_reads(flags_argument)?])?] };
        rules.insert(call, condition);
    }
    // A process that aborts sends itself a signal.
    let own_process =
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, u64::from(std::process::id()))?;
    rules.insert(libc::SYS_tgkill, vec![SeccompRule::new(vec![own_process])?]);
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, TargetArch::x86_64)?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter(&program)?;
    Ok(())
}

/// Whether the flags of an `open` ask for nothing but reading.
fn only_reads(flags_argument: u8) -> Result<SeccompCondition, seccompiler::BackendError> {
    let writing = (libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC) as u64;
    SeccompCondition::new(
        flags_argument,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::MaskedEq(writing),
        libc::O_RDONLY as u64,
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io;
    use std::net::TcpListener;
    use std::process::Command;

    use lockstep_protocol::build_options::{BuildOptions, Stage};

    use super::*;

    /// What a thread that is confined so finds when it looks around.
    fn confined<T: Send + 'static>(needs: Needs, look: impl FnOnce() -> T + Send + 'static) -> (Confinement, T) {
        let thread = std::thread::spawn(move || (confine_thread(&needs), look()));
        thread.join().expect("it does not panic")
    }

    /// Where the system has no such means there is nothing to test; `LOCKSTEP_TEST_SANDBOX=1` makes that a failure.
    fn expect_means(has_means: bool, name: &str) -> bool {
        let must_be_there = std::env::var_os("LOCKSTEP_TEST_SANDBOX").is_some();
        assert!(has_means || !must_be_there, "this system has no {name}");
        if !has_means {
            eprintln!("this system has no {name}: nothing is tested");
        }
        has_means
    }

    #[test]
    fn only_what_is_needed_can_be_read() {
        let (given, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(given.path().join("inner")).unwrap();
        fs::write(given.path().join("inner/a.h"), "a").unwrap();
        fs::write(other.path().join("b.h"), "b").unwrap();
        fs::write(other.path().join("c.h"), "c").unwrap();
        std::os::unix::fs::symlink(other.path().join("b.h"), given.path().join("inner/link.h")).unwrap();
        let mut readable = vec![given.path().to_owned()];
        readable.extend(link_targets(given.path(), &mut 100));
        let paths = ["inner/a.h", "inner/link.h"].map(|name| given.path().join(name));
        let forbidden = [other.path().join("c.h"), PathBuf::from("/etc/passwd")];
        let (confinement, (allowed, refused)) = confined(Needs { readable, writable: None }, move || {
            (paths.map(|path| fs::read_to_string(path).ok()), forbidden.map(|path| fs::read(path).err()))
        });
        assert_eq!(allowed, [Some("a".to_owned()), Some("b".to_owned())]);
        if expect_means(confinement.files, "Landlock") {
            let is_denied = |error: &Option<io::Error>| {
                error.as_ref().is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
            };
            assert!(refused.iter().all(is_denied), "{refused:?}");
        }
    }

    #[test]
    fn files_are_within_reach_of_sources_that_include_them() {
        let needs = |source: &[u8], options: &str| {
            let options = BuildOptions::parse(options, Stage::Build).unwrap();
            let files = SourceFiles {
                source: source.to_vec(),
                specialization: None,
                headers: Vec::new(),
                options,
                source_lines: false,
                reads_files: true,
            };
            let job = Job::BuildProgram(files);
            Needs::of_request(&Request {
                build: String::new(),
                time: false,
                dump: None,
                in_background: false,
                level: None,
                job,
            })
            .readable
        };
        assert!(needs(b"kernel void f() {}", "-I /usr/include").is_empty());
        for source in [&b"#include <a.h>"[..], b"#inc\\\nlude \"a.h\"", b"#  embed \"a\"", b"??=include <a.h>"] {
            let readable = needs(source, "-I /no/such/folder");
            assert!(readable.starts_with(&["/no/such/folder".into(), ".".into()]), "{readable:?}");
        }
        let by_macro = |options| needs(b"#include M2S(FOLDER/a.h)", options);
        let folder = |path: &str| vec![PathBuf::from("."), PathBuf::from(path)];
        assert_eq!(by_macro("-D FOLDER=/no/such/folder/"), folder("/no/such/folder/"));
        assert_eq!(by_macro("-D FOLDER=\"/no/such/folder\""), folder("/no/such/folder"));
        for options in ["-D FOLDER=/", "-D FOLDER=//", "-D FOLDER=/..", "-D FOLDER=folder", "-D FOLDER", "-U FOLDER"] {
            assert_eq!(by_macro(options), vec![PathBuf::from(".")], "{options}");
        }
    }

    #[test]
    fn sockets_processes_and_written_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        let attempt_all = |path: &Path| {
            [
                ("a socket", TcpListener::bind("127.0.0.1:0").is_ok()),
                ("a process", Command::new("/bin/true").status().is_ok()),
                ("a thread", std::thread::Builder::new().spawn(|| ()).is_ok()),
                ("a file", fs::write(path, "text").is_ok()),
            ]
        };
        let before = attempt_all(&path);
        assert!(before.iter().all(|(_, succeeded)| *succeeded), "what the sandbox is to refuse: {before:?}");
        let needs = Needs { readable: vec![folder.path().to_owned()], writable: None };
        let (confinement, attempts) = confined(needs, move || attempt_all(&path));
        if expect_means(confinement.calls, "seccomp") {
            assert!(attempts.iter().all(|(_, succeeded)| !succeeded), "{attempts:?}");
        }
    }

    #[test]
    fn dumps_can_be_written_and_nothing_beside_them() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let dumps = folder.path().join("dumps/deep");
        let needs = Needs { readable: Vec::new(), writable: Some(dumps.clone()) };
        let elsewhere = other.path().join("new");
        let (confinement, (inside, outside)) = confined(needs, move || {
            (fs::write(dumps.join("k.ll"), "text").is_ok(), fs::write(elsewhere, "text").is_ok())
        });
        assert!(inside);
        assert!(!expect_means(confinement.files, "Landlock") || !outside);
    }
}
