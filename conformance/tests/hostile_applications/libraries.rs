//! Applications that load libraries with other versions, or another form, of what a driver may use: LLVM, and the allocator.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;
use std::process::Command;
use std::ptr;

use lockstep_conformance::child::in_child;
use lockstep_conformance::{Setup, is_lockstep};

use crate::work::build_and_launch;

/// A library that stays loaded to the end of the process.
struct Loaded(*mut c_void);

impl Loaded {
    /// Loads a library with these flags of `dlopen`.
    fn open(name: &CStr, flags: c_int) -> Result<Loaded, String> {
        // SAFETY: a terminated name; the library's initialisers are what is under test.
        let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
        if !handle.is_null() {
            return Ok(Loaded(handle));
        }
        // SAFETY: after a failure there is a terminated message.
        Err(unsafe { CStr::from_ptr(libc::dlerror()) }.to_string_lossy().into_owned())
    }

    /// The address of a function.
    fn find(&self, name: &CStr) -> *mut c_void {
        // SAFETY: the handle is that of an open library.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        assert!(!address.is_null(), "the library has no {name:?}");
        address
    }
}

/// LLVM as an application uses it beside OpenCL.
struct OtherLlvm(Loaded);

impl OtherLlvm {
    fn load() -> OtherLlvm {
        let library = Loaded::open(c"libLLVM-16.so.1", libc::RTLD_NOW | libc::RTLD_GLOBAL);
        OtherLlvm(
            library.unwrap_or_else(|error| panic!("{error} (Debian: libllvm16; `cargo xtask setup` installs it)")),
        )
    }

    /// Makes a context and ends it.
    fn use_context(&self) {
        // SAFETY: the functions of LLVM's C interface with these names.
        unsafe {
            let create: extern "C" fn() -> *mut c_void = std::mem::transmute(self.0.find(c"LLVMContextCreate"));
            let dispose: extern "C" fn(*mut c_void) = std::mem::transmute(self.0.find(c"LLVMContextDispose"));
            let context = create();
            assert!(!context.is_null());
            dispose(context);
        }
    }

    /// Sets an option for the whole process.
    fn set_option(&self, option: &CStr) {
        let arguments = [c"application".as_ptr(), option.as_ptr()];
        // SAFETY: the function of LLVM's C interface with this name, and as many terminated texts as said.
        unsafe {
            let parse: extern "C" fn(c_int, *const *const c_char, *const c_char) =
                std::mem::transmute(self.0.find(c"LLVMParseCommandLineOptions"));
            parse(arguments.len() as c_int, arguments.as_ptr(), ptr::null());
        }
    }
}

#[test]
fn another_llvm_is_there() {
    if !is_lockstep() {
        return;
    }
    in_child("libraries::another_llvm_is_there", &[], || {
        // Before the loader brings the driver.
        let llvm = OtherLlvm::load();
        llvm.use_context();
        llvm.set_option(c"-x86-asm-syntax=intel");
        let setup = Setup::new();
        build_and_launch(&setup);
        llvm.use_context();
        llvm.set_option(c"-unroll-threshold=7");
        build_and_launch(&setup);
        build_and_launch(&Setup::new());
        let maps = std::fs::read_to_string("/proc/self/maps").expect("the process describes itself");
        let others = maps.lines().filter(|line| line.contains("libLLVM") || line.contains("libclang"));
        let others: Vec<&str> = others.filter(|line| !line.contains("libLLVM-16.so")).collect();
        assert!(others.is_empty(), "the driver has brought {others:?}");
    });
}

/// Builds the library with an allocator of its own.
fn build_allocator() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lockstep-allocator-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let library = folder.join("libown_allocator.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile_applications/own_allocator.c");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-O1", "-fno-builtin", "-pthread", "-Wl,-Bsymbolic", source, "-o"])
        .arg(&library);
    let status = compiler.status().expect("there is a C compiler (cc)");
    assert!(status.success(), "cc: {status}");
    library
}

#[test]
fn an_allocator_is_loaded_after_the_driver() {
    if !is_lockstep() {
        return;
    }
    for flags in [libc::RTLD_NOW | libc::RTLD_GLOBAL, libc::RTLD_LAZY | libc::RTLD_GLOBAL | libc::RTLD_DEEPBIND] {
        let flags = flags.to_string();
        in_child("libraries::an_allocator_is_loaded_after_the_driver", &[("FLAGS", &flags)], || {
            let library = build_allocator();
            let setup = Setup::new();
            build_and_launch(&setup);
            let flags = std::env::var("FLAGS").expect("set").parse().expect("a number");
            let name = std::ffi::CString::new(library.as_os_str().as_encoded_bytes()).expect("a path without zeros");
            let loaded = Loaded::open(&name, flags).unwrap_or_else(|error| panic!("{error}"));
            std::fs::remove_dir_all(library.parent().expect("a folder")).expect("its own folder");
            // SAFETY: the function of this name and type in the library.
            let is_own: extern "C" fn() -> c_int = unsafe { std::mem::transmute(loaded.find(c"allocator_is_own")) };
            assert_eq!(is_own(), 1, "the library's allocator is not its own");
            (0..3).for_each(|_| build_and_launch(&setup));
            build_and_launch(&Setup::new());
        });
    }
}
