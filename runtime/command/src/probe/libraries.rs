//! Loading the ICD loader and our driver, to see whether that works and to ask the loader what it is.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs;
use std::path::{Path, PathBuf};

use libloading::Library;

use super::Loader;

/// The name by which programs ask for the loader.
const LOADER: &str = "libOpenCL.so.1";

/// The loader's function that finds functions by their names.
type FindFunction = unsafe extern "C" fn(name: *const c_char) -> *mut c_void;

/// What both known loaders answer questions about themselves by.
type AskLoader = unsafe extern "C" fn(question: c_int, size: usize, answer: *mut c_void, needed: *mut usize) -> c_int;

/// Questions to a loader.
const VERSION: c_int = 2;
const NAME: c_int = 3;

/// Loads the loader; says which file it is, and what it calls itself.
pub fn find_loader() -> Result<Loader, String> {
    // SAFETY: the initialisers of an ICD loader are run by every OpenCL application.
    let library = unsafe { Library::new(LOADER) }.map_err(|error| error.to_string())?;
    let path = mapped_file("libOpenCL").map_or_else(|| LOADER.to_owned(), |path| path.display().to_string());
    let answers = [NAME, VERSION].map(|question| ask_loader(&library, question));
    let version = match answers {
        [Some(name), Some(version)] => format!("{name} {version}"),
        _ => "one that does not tell its version".to_owned(),
    };
    Ok(Loader { path, version })
}

fn ask_loader(library: &Library, question: c_int) -> Option<String> {
    // SAFETY: the function has this type in OpenCL's header.
    let find = unsafe { library.get::<FindFunction>(b"clGetExtensionFunctionAddress\0") }.ok()?;
    // SAFETY: the name is a string with a 0 at its end.
    let ask = unsafe { find(c"clGetICDLoaderInfoOCLICD".as_ptr()) };
    if ask.is_null() {
        return None;
    }
    // SAFETY: the function has this type in ocl-icd and in the Khronos loader.
    let ask = unsafe { std::mem::transmute::<*mut c_void, AskLoader>(ask) };
    let mut answer = [0_u8; 128];
    // SAFETY: it writes as many bytes as it is told that there are, the last of them being 0, or fails.
    let status = unsafe { ask(question, answer.len(), answer.as_mut_ptr().cast(), std::ptr::null_mut()) };
    let text = CStr::from_bytes_until_nul(&answer).ok()?;
    (status == 0).then(|| text.to_string_lossy().into_owned())
}

/// The file of a library that is loaded, by what its name begins with.
fn mapped_file(prefix: &str) -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let has_prefix = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
    maps.lines().filter_map(|line| Some(PathBuf::from(&line[line.find('/')?..]))).find(|path| has_prefix(path))
}

/// Loads a driver as a loader does.
///
/// # Errors
///
/// What the system's linker says: an architecture, a C library that is too old, a folder that forbids it.
pub fn try_loading(driver: &Path) -> Result<(), String> {
    // SAFETY: it is the driver that belongs to this command, and nothing of it is called.
    let library = unsafe { Library::new(driver) };
    // It stays: threads of it may have begun.
    library.map(std::mem::forget).map_err(|error| error.to_string())
}
