//! Finds the compiler's executable and keeps it open, so that the same one is run whatever becomes of its path.

use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, MutexGuard};
use rustix::io::fcntl_dupfd_cloexec;
use tracing::warn;

use super::start::StartError;
use super::streams::LOWEST_DESCRIPTOR;
use crate::options::options;
use crate::per_process::PerProcess;

/// The name of the file, beside the driver's.
pub const FILE_NAME: &str = "lockstep-compiler";

/// Descriptors below this one are the application's habit: some close or reuse those they know.
const UNUSUAL_DESCRIPTOR: RawFd = 100;

/// Where it is looked for in the driver's place.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// The compiler's executable.
pub(super) struct Executable {
    path: PathBuf,
    /// What was opened when the driver was loaded.
    opened_first: Option<Arc<Opened>>,
    /// What is open now.
    opened: PerProcess<Mutex<Option<Arc<Opened>>>>,
}

/// The open file, and what tells it from others: an application that closes descriptors it does not know may open
/// another file under the same number.
#[derive(Debug)]
pub(super) struct Opened {
    file: File,
    device: u64,
    inode: u64,
    /// Whether it has answered as the compiler of this driver does.
    is_trusted: AtomicBool,
}

impl Executable {
    /// The executable that `LOCKSTEP_COMPILER` names, or the one beside the driver. It is opened if it is there.
    pub(super) fn find_executable() -> Executable {
        let path = options().compiler.clone().or_else(find_in_folder).or_else(find_beside_driver);
        let path = path.unwrap_or_else(|| PathBuf::from(FILE_NAME));
        let opened_first = Opened::open_program(&path).inspect_err(|error| {
            warn!(target: "driver", "{} cannot be opened: {error}; nothing can be compiled", path.display());
        });
        let opened_first = opened_first.ok().map(Arc::new);
        Executable { path, opened_first, opened: PerProcess::new() }
    }

    fn lock_opened(&self) -> MutexGuard<'_, Option<Arc<Opened>>> {
        self.opened.get_or_make(|| Mutex::new(self.opened_first.clone())).lock()
    }

    /// The same as the system takes it.
    pub(super) fn c_path(&self) -> CString {
        // No path has a zero in it.
        CString::new(self.path.as_os_str().as_bytes()).unwrap_or_default()
    }

    /// Where it is, or would be.
    pub(super) fn file_path(&self) -> &Path {
        &self.path
    }

    /// Whether the open file has answered as the compiler of this driver does.
    pub(super) fn is_trusted(&self) -> bool {
        let opened = self.lock_opened();
        opened.as_ref().is_some_and(|file| file.is_unchanged() && file.is_trusted.load(Ordering::Relaxed))
    }

    /// Notes that it has.
    pub(super) fn mark_trusted(&self) {
        if let Some(file) = self.lock_opened().as_ref() {
            file.is_trusted.store(true, Ordering::Relaxed);
        }
    }

    /// The open file.
    ///
    /// # Errors
    /// When it is not there or is no program that this process may run.
    pub(super) fn open_file(&self) -> Result<Arc<Opened>, StartError> {
        let mut opened = self.lock_opened();
        if let Some(file) = opened.as_ref().filter(|file| file.is_unchanged()) {
            return Ok(file.clone());
        }
        // The number may be another file's by now, which is not ours to close.
        std::mem::forget(opened.take());
        let file = Opened::open_program(&self.path).map_err(|error| StartError { call: "open", error })?;
        let file = Arc::new(file);
        *opened = Some(file.clone());
        Ok(file)
    }
}

impl AsFd for Opened {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Opened {
    fn open_program(path: &Path) -> io::Result<Opened> {
        let file = File::options().read(true).custom_flags(libc::O_CLOEXEC).open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
            return Err(io::Error::from_raw_os_error(libc::EACCES));
        }
        Ok(Opened {
            file: raise_descriptor(file)?,
            device: metadata.dev(),
            inode: metadata.ino(),
            is_trusted: AtomicBool::new(false),
        })
    }

    fn is_unchanged(&self) -> bool {
        let is_same = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino()) == (self.device, self.inode);
        self.file.metadata().is_ok_and(is_same)
    }
}

/// The same file under a number that applications hardly use, or at least one that the process has for nothing.
fn raise_descriptor(file: File) -> io::Result<File> {
    let raised =
        fcntl_dupfd_cloexec(&file, UNUSUAL_DESCRIPTOR).or_else(|_| fcntl_dupfd_cloexec(&file, LOWEST_DESCRIPTOR));
    Ok(raised?.into())
}

/// Names the folder to look in, unless one was named before.
pub(super) fn look_in_folder(folder: &Path) {
    let _ = FOLDER.set(folder.to_owned());
}

/// The executable in the folder that was named, if one was.
fn find_in_folder() -> Option<PathBuf> {
    Some(FOLDER.get()?.join(FILE_NAME))
}

/// The executable in the folder of the library or program that this code is in. Cargo has its tests one folder below.
fn find_beside_driver() -> Option<PathBuf> {
    let folder = driver_path()?.parent()?.to_owned();
    let beside = folder.join(FILE_NAME);
    if !beside.exists() && folder.ends_with("deps") {
        return Some(folder.parent()?.join(FILE_NAME));
    }
    Some(beside)
}

/// The file that this code was loaded from.
fn driver_path() -> Option<PathBuf> {
    let address = driver_path as fn() -> Option<PathBuf> as *const libc::c_void;
    let mut information = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: the address is that of a function, and the structure may be written; the name in it is the loader's, and lives as
    // long as this library.
    let name = unsafe {
        if libc::dladdr(address, &mut information) == 0 || information.dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr(information.dli_fname)
    };
    std::fs::canonicalize(OsStr::from_bytes(name.to_bytes())).ok()
}
