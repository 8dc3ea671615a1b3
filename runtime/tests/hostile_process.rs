//! An application that ignores `SIGCHLD`, wants to die of `SIGPIPE` and closed its standard streams can still build
//! programs. This changes the whole process, so it is alone in its program.

use lockstep_protocol::build_failure::FrontendError;
use lockstep_protocol::build_options::BuildOptions;
use lockstep_protocol::job::SourceFiles;
use lockstep_runtime::compiler_process::compile_source;

fn files(source: &[u8]) -> SourceFiles {
    let options = BuildOptions::default();
    SourceFiles { source: source.to_vec(), headers: Vec::new(), options, source_lines: false, reads_files: true }
}

#[test]
fn the_state_of_the_process_does_not_matter() {
    let good = || compile_source(files(b"kernel void f(global int* a) { *a = 1; }"));
    let bad = || compile_source(files(b"kernel void f() { x; }"));
    // SAFETY: this program has one test. The streams are put back before the test's own output.
    let (first, second) = unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let kept: Vec<i32> = (0..3).map(|fd| libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 100)).collect();
        for fd in 0..3 {
            libc::close(fd);
        }
        let results = (good(), bad());
        for (fd, &copy) in kept.iter().enumerate() {
            libc::dup2(copy, fd as i32);
            libc::close(copy);
        }
        results
    };
    let object = first.unwrap_or_else(|error| panic!("{error}"));
    assert!(object.object.bitcode.starts_with(b"BC\xc0\xde"));
    match second {
        Err(FrontendError::CompileFailure { log }) => assert!(log.contains("program.cl:1:19: error"), "{log}"),
        other => panic!("{:?}", other.map(|object| object.log)),
    }
}
