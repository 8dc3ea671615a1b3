//! The way to the driver: `libOpenCL.so.1`, loaded at run time, and the platform under test.

use std::ffi::{CStr, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;

use libloading::Library;
use opencl_sys::*;

use crate::entry_points::EntryPoints;
use crate::info;

/// The ICD loader's entry points.
pub fn cl() -> &'static EntryPoints {
    static LOADER: OnceLock<EntryPoints> = OnceLock::new();
    // SAFETY: the loader's symbols are the OpenCL functions of these names.
    LOADER.get_or_init(|| unsafe { EntryPoints::collect(|name, _| symbol(name)) })
}

/// Where the driver keeps what it compiled.
pub const CACHE: &str = "LOCKSTEP_CACHE";

/// A function of the ICD loader by name.
///
/// # Panics
/// When the loader cannot be loaded or has no such function.
fn symbol(name: &str) -> *const c_void {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let vendors = vendors();
        // SAFETY: this comes before the first use of OpenCL in the process, under the lock of `LIBRARY`. Rust's own
        // uses of the environment are serialised with it; only the loader reads it from C, and later.
        unsafe { std::env::set_var("OCL_ICD_VENDORS", &vendors) };
        // Tests and benchmarks want to see what they ask for done, unless they are about the cache.
        if std::env::var_os(CACHE).is_none() {
            // SAFETY: as above.
            unsafe { std::env::set_var(CACHE, "off") };
        }
        // SAFETY: the ICD loader's initialisers have no requirements.
        unsafe { Library::new("libOpenCL.so.1") }
            .unwrap_or_else(|error| panic!("cannot load the ICD loader (Debian: ocl-icd-libopencl1): {error}"))
    });
    // SAFETY: only the symbol's address is taken here.
    match unsafe { library.get::<*const c_void>(name.as_bytes()) } {
        Ok(symbol) => *symbol,
        Err(error) => panic!("the ICD loader has no {name}: {error}"),
    }
}

/// The driver's own entry points, from the dispatch table behind the platform's handle. Where the driver leaves an entry
/// empty, the loader's function stands in; a test of its own asks for a complete table.
pub fn driver() -> &'static EntryPoints {
    static DRIVER: OnceLock<EntryPoints> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let table = dispatch_table();
        let find = |name, place| {
            // SAFETY: cl_khr_icd: the first word of every object points to this table, and the places are those of
            // `struct _cl_icd_dispatch`.
            let function = unsafe { table.add(place).read() };
            if function.is_null() { symbol(name) } else { function }
        };
        // SAFETY: both ways lead to the OpenCL functions of these names.
        unsafe { EntryPoints::collect(find) }
    })
}

/// Whether the driver's dispatch table has a function at this place.
pub fn in_dispatch_table(place: usize) -> bool {
    // SAFETY: as in `driver`.
    !unsafe { dispatch_table().add(place).read() }.is_null()
}

/// The file of the driver's library.
pub fn driver_library() -> String {
    // SAFETY: `dladdr` takes any address; zeros are a valid `Dl_info` and it fills them in.
    unsafe {
        let mut about: libc::Dl_info = std::mem::zeroed();
        assert_ne!(libc::dladdr(dispatch_table().read(), &mut about), 0, "the entry points are in a shared library");
        CStr::from_ptr(about.dli_fname).to_string_lossy().into_owned()
    }
}

/// The dispatch table of the platform under test.
fn dispatch_table() -> *const *const c_void {
    // SAFETY: cl_khr_icd: the first word of a platform points to the driver's dispatch table.
    unsafe { platform().cast::<*const *const c_void>().read() }
}

/// The name of the platform under test: `LOCKSTEP_TEST_PLATFORM`, or `Lockstep`. `*` is the first, whatever its name.
pub fn platform_name() -> String {
    std::env::var("LOCKSTEP_TEST_PLATFORM").unwrap_or_else(|_| "Lockstep".to_owned())
}

/// Whether the platform under test is this project's driver: only then do its own options and names apply.
pub fn is_lockstep() -> bool {
    platform_name() == "Lockstep"
}

/// The platform under test.
///
/// # Panics
/// When the loader does not show it.
pub fn platform() -> cl_platform_id {
    static PLATFORM: OnceLock<usize> = OnceLock::new();
    let address = *PLATFORM.get_or_init(|| {
        let mut count = 0;
        let code = (cl().clGetPlatformIDs)(0, ptr::null_mut(), &mut count);
        let mut platforms = vec![ptr::null_mut(); count as usize];
        if code == CL_SUCCESS {
            (cl().clGetPlatformIDs)(count, platforms.as_mut_ptr(), ptr::null_mut());
        }
        let name = |platform: cl_platform_id| {
            info::text(|size, value, returned| (cl().clGetPlatformInfo)(platform, CL_PLATFORM_NAME, size, value, returned))
        };
        let names: Vec<String> = platforms.iter().map(|&platform| name(platform)).collect();
        let wanted = platform_name();
        let position = names.iter().position(|name| wanted == "*" || *name == wanted).unwrap_or_else(|| {
            panic!(
                "the ICD loader shows no platform {wanted} with OCL_ICD_VENDORS={}, only {names:?}; run `cargo xtask test`",
                vendors().display()
            )
        });
        platforms[position] as usize
    });
    address as cl_platform_id
}

/// The device under test: the platform's first.
pub fn device() -> cl_device_id {
    static DEVICE: OnceLock<usize> = OnceLock::new();
    let address = *DEVICE.get_or_init(|| {
        let mut device = ptr::null_mut();
        let code = (cl().clGetDeviceIDs)(platform(), CL_DEVICE_TYPE_ALL, 1, &mut device, ptr::null_mut());
        assert_eq!(code, CL_SUCCESS, "the platform shows no device");
        device as usize
    });
    address as cl_device_id
}

/// Whether the device under test reports an extension. This project's driver has every one that a test asks for.
///
/// # Panics
/// When it has not.
#[track_caller]
pub fn has_extension(name: &str) -> bool {
    let text = info::text(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_EXTENSIONS, size, value, returned)
    });
    let there = text.split_whitespace().any(|extension| extension == name);
    assert!(there || !is_lockstep(), "{name} is not reported");
    there
}

/// Whether the device reports an optional feature of OpenCL C 3.0.
pub fn has_feature(name: &str) -> bool {
    let entries: Vec<[u8; 68]> = info::array(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_OPENCL_C_FEATURES, size, value, returned)
    });
    entries.iter().any(|entry| entry[4..].starts_with(name.as_bytes()) && entry[4 + name.len()] == 0)
}

/// The folder with `.icd` files: `OCL_ICD_VENDORS`, or the workspace's own.
fn vendors() -> PathBuf {
    static VENDORS: OnceLock<PathBuf> = OnceLock::new();
    VENDORS
        .get_or_init(|| match std::env::var_os("OCL_ICD_VENDORS") {
            Some(vendors) => PathBuf::from(vendors),
            None => {
                let folder = workspace().join("target/icd/");
                let found = std::fs::read_dir(&folder)
                    .is_ok_and(|entries| entries.flatten().any(|entry| entry.path().extension().is_some_and(|e| e == "icd")));
                assert!(
                    found,
                    "{} holds no .icd file: build and register the driver with `cargo xtask test`, or set OCL_ICD_VENDORS",
                    folder.display()
                );
                folder
            }
        })
        .clone()
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in a folder of the workspace")
}
