//! Where the command meets C: the ICD loader and our driver are loaded, to see whether that works, and the loader is asked what it is.

use std::ffi::{CStr, OsStr, c_int};
use std::fs;
use std::path::{Path, PathBuf};

use libloading::Library;

use super::Loader;

/// The name by which programs ask for the loader.
const LOADER: &str = "libOpenCL.so.1";

/// The name of the function by which both known loaders answer questions about themselves, as C has it.
const ASK_LOADER: &[u8; 25] = b"clGetICDLoaderInfoOCLICD\0";

/// Bytes that an answer may have, the 0 at its end among them.
const ANSWER_BYTES: usize = 128;

/// The loader's `clGetExtensionFunctionAddress`, for that one name.
type FindAskLoader = extern "C" fn(name: &[u8; 25]) -> Option<AskLoader>;

/// That function, for answers of that size. It writes a text with a 0 at its end and returns 0, or writes nothing.
type AskLoader =
    extern "C" fn(question: c_int, size: usize, answer: &mut [u8; ANSWER_BYTES], needed: Option<&mut usize>) -> c_int;

/// The numbers of the questions.
const VERSION: c_int = 2;
const NAME: c_int = 3;

/// Loads the loader; says which file it is, and what it calls itself.
pub fn find_loader() -> Result<Loader, String> {
    let library = load_library(LOADER.as_ref())?;
    let path = mapped_file("libOpenCL").map_or_else(|| LOADER.to_owned(), |path| path.display().to_string());
    let answers = [NAME, VERSION].map(|question| ask_loader(&library, question));
    let version = match answers {
        [Some(name), Some(version)] => format!("{name} {version}"),
        _ => "one that does not tell its version".to_owned(),
    };
    Ok(Loader { path, version })
}

/// Loads a driver as a loader does.
///
/// # Errors
///
/// What the system's linker says: an architecture, a C library that is too old, a folder that forbids it.
pub fn try_loading(driver: &Path) -> Result<(), String> {
    // It stays: threads of it may have begun.
    load_library(driver.as_os_str()).map(std::mem::forget)
}

fn load_library(name: &OsStr) -> Result<Library, String> {
    // SAFETY: the initialisers of a loader and of a driver run in every OpenCL application. This is a process that loads them and
    // nothing else.
    unsafe { Library::new(name) }.map_err(|error| error.to_string())
}

fn ask_loader(library: &Library, question: c_int) -> Option<String> {
    // SAFETY: OpenCL's header has the function with this type, where a name leads to a function or to none; both known loaders have
    // `ASK_LOADER` with the type that it is given here, and keep to the size.
    let find = unsafe { library.get::<FindAskLoader>(b"clGetExtensionFunctionAddress\0") }.ok()?;
    let ask = find(ASK_LOADER)?;
    let mut answer = [0; ANSWER_BYTES];
    let status = ask(question, ANSWER_BYTES, &mut answer, None);
    let text = CStr::from_bytes_until_nul(&answer).ok()?;
    (status == 0).then(|| text.to_string_lossy().into_owned())
}

/// The file of a library that is loaded, by what its name begins with.
fn mapped_file(prefix: &str) -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let has_prefix = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
    maps.lines().filter_map(|line| Some(PathBuf::from(&line[line.find('/')?..]))).find(|path| has_prefix(path))
}
