//! Programs that include what never ends, keeps whoever opens it or is the application's own.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lockstep_conformance::child::{in_child, is_child};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Setup, is_lockstep, read, run};

/// Far more than a build takes, and far less than the limit of a job.
const SOON: Duration = Duration::from_secs(20);

/// A folder that goes away with the value; a child uses that of its parent.
struct Folder(PathBuf);

/// Names the folder to the child.
const FOLDER: &str = "INCLUDED_FILES";

impl Folder {
    fn new(name: &str) -> Folder {
        if is_child() {
            return Folder(std::env::var_os(FOLDER).expect("set for the child").into());
        }
        let path = std::env::temp_dir().join(format!("lockstep-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn text(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a plain path").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !is_child() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// Makes a pipe that nobody writes to.
fn make_pipe(path: &Path) {
    let name = CString::new(path.to_str().expect("a plain path")).expect("no zeros");
    // SAFETY: the name is a terminated string.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0, "{}", std::io::Error::last_os_error());
}

/// Puts a file with one line in the place of the standard input, of which nothing may be missing afterwards.
fn open_input(path: &Path) {
    std::fs::write(path, "int of_the_application;\n").expect("a file");
    let name = CString::new(path.to_str().expect("a plain path")).expect("no zeros");
    // SAFETY: the name is a terminated string, and the numbers are this process's to use.
    unsafe {
        let file = libc::open(name.as_ptr(), libc::O_RDONLY);
        assert!(file >= 0 && libc::dup2(file, libc::STDIN_FILENO) == libc::STDIN_FILENO);
        libc::close(file);
    }
}

#[test]
fn what_never_ends_fails_the_build_soon() {
    if !is_lockstep() {
        return;
    }
    let folder = Folder::new("endless-files");
    let cache = folder.text("cache");
    let environment = [(FOLDER, folder.text("")), ("LOCKSTEP_CACHE", cache)];
    let environment = environment.each_ref().map(|(name, value)| (*name, value.as_str()));
    in_child("included_files::what_never_ends_fails_the_build_soon", &environment, || {
        let pipe = folder.0.join("pipe.h");
        make_pipe(&pipe);
        open_input(&folder.0.join("input"));
        let setup = Setup::new();
        let folder_option = format!("-I {}", folder.0.display());
        for path in ["/dev/zero", "/dev/stdin", "pipe.h"] {
            let quoted = format!("#include \"{path}\"\nkernel void f() {{}}");
            let embedded = format!("constant char text[] = {{\n#embed \"{path}\"\n}};\nkernel void f() {{}}");
            for source in [quoted, embedded] {
                let start = Instant::now();
                let program = setup.context.source(&source);
                assert_eq!(program.build(&folder_option), CL_BUILD_PROGRAM_FAILURE, "{source}");
                assert!(start.elapsed() < SOON, "{source}");
                let log = program.log();
                assert!(log.contains("error: ") && log.contains(path), "{log}");
            }
        }
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).expect("the file is there");
        assert_eq!(line, "int of_the_application;\n", "somebody has read the application's input");
    });
}

/// Builds and runs a program that includes a file of a number, and returns the number.
fn included_number(setup: &Setup, options: &str) -> Result<i32, i32> {
    let program = setup.context.source("#include <number.h>\nkernel void f(global int *a) { *a = NUMBER; }");
    match program.build(options) {
        CL_SUCCESS => {
            let (kernel, out) = (program.kernel("f"), setup.context.zeros::<i32>(1));
            kernel.set(0, &out);
            run(&setup.queue, &kernel, &[1], &[]);
            Ok(read::<i32>(&setup.queue, &out)[0])
        }
        code => Err(code),
    }
}

#[test]
fn a_file_that_becomes_a_pipe_keeps_no_later_build() {
    if !is_lockstep() {
        return;
    }
    let folder = Folder::new("becomes-a-pipe");
    let cache = folder.text("cache");
    let environment = [(FOLDER, folder.text("")), ("LOCKSTEP_CACHE", cache)];
    let environment = environment.each_ref().map(|(name, value)| (*name, value.as_str()));
    in_child("included_files::a_file_that_becomes_a_pipe_keeps_no_later_build", &environment, || {
        let header = folder.0.join("number.h");
        let options = format!("-I {}", folder.0.display());
        std::fs::write(&header, "#define NUMBER 7\n").expect("a header");
        let setup = Setup::new();
        assert_eq!(included_number(&setup, &options), Ok(7));
        assert!(std::fs::read_dir(folder.0.join("cache")).is_ok_and(|entries| entries.count() > 0), "nothing was kept");
        assert_eq!(included_number(&setup, &options), Ok(7));
        for make in [make_pipe, |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).expect("a link")] {
            std::fs::remove_file(&header).expect("it was there");
            make(&header);
            let start = Instant::now();
            assert_eq!(included_number(&setup, &options), Err(CL_BUILD_PROGRAM_FAILURE));
            assert!(start.elapsed() < SOON);
        }
        std::fs::remove_file(&header).expect("it was there");
        std::fs::write(&header, "#define NUMBER 8\n").expect("a header");
        assert_eq!(included_number(&setup, &options), Ok(8));
    });
}
