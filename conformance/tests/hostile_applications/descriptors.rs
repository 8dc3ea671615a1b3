//! Applications that close descriptors which are not theirs, and open files of their own under the same numbers.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
use std::os::unix::fs::{FileExt, MetadataExt};

use lockstep_conformance::child::in_child;
use lockstep_conformance::stand_in::{StandIn, real_compiler};
use lockstep_conformance::{Setup, is_lockstep};

use crate::limits::set_soft_limit;
use crate::work::build_and_launch;

/// Closes all descriptors from 3 on.
fn close_all() {
    close_up_to(u32::MAX);
}

/// Closes all descriptors from 3 to this one.
fn close_up_to(last: u32) {
    // SAFETY: a system call without pointers. Whoever in this process still uses one of them finds it closed, which is
    // what these tests are about.
    let code = unsafe { libc::syscall(libc::SYS_close_range, 3, last, 0) };
    assert_eq!(code, 0, "close_range: {}", std::io::Error::last_os_error());
}

/// A file of the application's own that must stay as it is.
struct OwnFile {
    file: File,
    identity: (u64, u64),
}

const TEXT: &[u8] = b"what the application has written";

impl OwnFile {
    /// A new file without a name, under the lowest free descriptor.
    fn new() -> OwnFile {
        // SAFETY: a terminated name.
        let descriptor = unsafe { libc::memfd_create(c"application".as_ptr(), 0) };
        assert!(descriptor >= 0, "no file");
        // SAFETY: the kernel has just made this descriptor for us.
        let file = unsafe { File::from_raw_fd(descriptor) };
        file.write_all_at(TEXT, 0).expect("room in memory");
        let identity = identity_of(&file);
        OwnFile { file, identity }
    }

    #[track_caller]
    fn check(&self) {
        assert_eq!(identity_of(&self.file), self.identity, "descriptor {} is another file", self.file.as_raw_fd());
        let mut text = vec![0; TEXT.len() + 1];
        assert_eq!(self.file.read_at(&mut text, 0).expect("a file to read"), TEXT.len(), "the file has another length");
        assert_eq!(&text[..TEXT.len()], TEXT);
    }
}

fn identity_of(file: &File) -> (u64, u64) {
    let metadata = file.metadata().expect("the file is open");
    (metadata.dev(), metadata.ino())
}

/// As many files as fill all numbers that the driver may have had.
fn open_own_files() -> Vec<OwnFile> {
    (0..200).map(|_| OwnFile::new()).collect()
}

#[test]
fn all_descriptors_are_closed() {
    if !is_lockstep() {
        return;
    }
    in_child("descriptors::all_descriptors_are_closed", &[], || {
        lockstep_conformance::platform();
        close_all();
        let setup = Setup::new();
        build_and_launch(&setup);
        close_all();
        build_and_launch(&setup);
        build_and_launch(&Setup::new());
    });
}

#[test]
fn other_files_have_their_numbers() {
    if !is_lockstep() {
        return;
    }
    in_child("descriptors::other_files_have_their_numbers", &[], || {
        let setup = Setup::new();
        build_and_launch(&setup);
        close_all();
        let files = open_own_files();
        assert!(files.iter().any(|own| own.file.as_raw_fd() > 150), "the numbers are not filled");
        build_and_launch(&setup);
        files.iter().for_each(OwnFile::check);
        // The same once more, as the driver has opened its file anew.
        build_and_launch(&Setup::new());
        files.iter().for_each(OwnFile::check);
    });
}

/// The application opens the compiler's executable itself; the driver must not take that for its own and close it.
#[test]
fn the_same_file_has_the_number() {
    if !is_lockstep() {
        return;
    }
    in_child("descriptors::the_same_file_has_the_number", &[], || {
        let compiler = real_compiler();
        let setup = Setup::new();
        close_all();
        let files: Vec<File> = (0..200).map(|_| File::open(&compiler).expect("the compiler is there")).collect();
        build_and_launch(&setup);
        for file in &files {
            let mut begin = [0; 4];
            assert_eq!(file.read_at(&mut begin, 0).expect("still open"), 4);
            assert_eq!(&begin, b"\x7fELF");
        }
    });
}

/// Puts the standard streams aside while `body` runs without them, and gives them back.
fn without_standard_streams(body: impl FnOnce()) {
    let saved = [0, 1, 2].map(|number| {
        // SAFETY: system calls without pointers; the number is above those that tests look at.
        unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 500) }
    });
    assert!(saved.iter().all(|&descriptor| descriptor >= 500), "the streams cannot be put aside");
    // SAFETY: nobody writes to them until they are back.
    (0..3).for_each(|number| _ = unsafe { libc::close(number) });
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
    for (number, descriptor) in (0..3).zip(saved) {
        // SAFETY: as above; a file that took the number meanwhile is given up.
        unsafe { libc::dup2(descriptor, number) };
    }
    if let Err(panic) = result {
        let message = panic.downcast_ref::<String>().cloned();
        panic!("without standard streams: {}", message.unwrap_or_default());
    }
}

#[test]
fn the_standard_streams_are_closed() {
    if !is_lockstep() {
        return;
    }
    in_child("descriptors::the_standard_streams_are_closed", &[], || {
        let setup = Setup::new();
        build_and_launch(&setup);
        without_standard_streams(|| {
            build_and_launch(&setup);
            build_and_launch(&Setup::new());
        });
        build_and_launch(&setup);
    });
}

#[test]
fn the_platform_is_asked_for_without_standard_streams() {
    if !is_lockstep() {
        return;
    }
    in_child("descriptors::the_platform_is_asked_for_without_standard_streams", &[], || {
        without_standard_streams(|| build_and_launch(&Setup::new()));
        build_and_launch(&Setup::new());
    });
}

/// The numbers that the driver prefers are beyond the limit, and the lowest ones are free.
#[test]
fn the_platform_is_asked_for_with_few_descriptors() {
    if !is_lockstep() {
        return;
    }
    in_child("descriptors::the_platform_is_asked_for_with_few_descriptors", &[], || {
        without_standard_streams(|| {
            close_up_to(499);
            set_soft_limit(libc::RLIMIT_NOFILE, 40);
            build_and_launch(&Setup::new());
            let files = [0, 1, 2].map(|_| OwnFile::new());
            build_and_launch(&Setup::new());
            files.iter().for_each(OwnFile::check);
            files.into_iter().for_each(|own| _ = own.file.into_raw_fd());
            set_soft_limit(libc::RLIMIT_NOFILE, 1024);
        });
        build_and_launch(&Setup::new());
    });
}

#[test]
fn other_files_are_the_standard_streams() {
    if !is_lockstep() {
        return;
    }
    in_child("descriptors::other_files_are_the_standard_streams", &[], || {
        let setup = Setup::new();
        build_and_launch(&setup);
        without_standard_streams(|| {
            let files = [0, 1, 2].map(|_| OwnFile::new());
            assert_eq!(files.each_ref().map(|own| own.file.as_raw_fd()), [0, 1, 2]);
            build_and_launch(&setup);
            build_and_launch(&Setup::new());
            files.iter().for_each(OwnFile::check);
            // Their numbers are the streams' again.
            files.into_iter().for_each(|own| _ = own.file.into_raw_fd());
        });
        build_and_launch(&setup);
    });
}

/// A pipe of the application's is at its end when the application has closed it, although a build is under way.
#[test]
fn the_compiler_has_no_descriptors_of_the_application() {
    if !is_lockstep() {
        return;
    }
    let script = format!("ls -l /proc/$$/fd > \"$0.open\"; exec '{}'", real_compiler().display());
    let stand_in = StandIn::new("inherited", &script);
    let environment = [("LOCKSTEP_COMPILER", stand_in.path())];
    in_child("descriptors::the_compiler_has_no_descriptors_of_the_application", &environment, || {
        let setup = Setup::new();
        let mut ends = [0; 2];
        // SAFETY: room for both ends. They are left open to children on purpose.
        assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), 0) }, 0);
        build_and_launch(&setup);
        // SAFETY: this end is the application's own.
        let (mut reader, writer) = unsafe { (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])) };
        drop(writer);
        assert_eq!(reader.read(&mut [0]).expect("a pipe"), 0, "somebody else could still write to it");
    });
    let open = std::fs::read_to_string(format!("{}.open", stand_in.path())).expect("the compiler ran");
    assert!(!open.contains("pipe:"), "{open}");
}
