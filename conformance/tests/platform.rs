//! The platform: its queries, the loader's view of it, extension functions and the symbols of the library.

use std::ffi::{CString, c_void};
use std::ptr;

use lockstep_conformance::entry_points::ENTRY_POINTS;
use lockstep_conformance::loader::{self, cl, driver, is_lockstep, platform};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{child, code_name, expect, info, ok};
use object::{Object, ObjectSymbol};

fn query(name: cl_platform_info) -> impl Fn(usize, *mut c_void, *mut usize) -> cl_int {
    move |size, value, returned| (cl().clGetPlatformInfo)(platform(), name, size, value, returned)
}

#[test]
fn names_and_versions() {
    let version = info::text(query(CL_PLATFORM_VERSION));
    let (name, minor) = if is_lockstep() { ("OpenCL 3.1 ", 1) } else { ("OpenCL 3.0 ", 0) };
    assert!(version.starts_with(name), "{version:?}");
    assert_eq!(info::value::<u32>(query(CL_PLATFORM_NUMERIC_VERSION)) >> 12, 3 << 10 | minor);
    assert_eq!(info::text(query(CL_PLATFORM_NAME)), loader::platform_name());
    let profile = info::text(query(CL_PLATFORM_PROFILE));
    assert!(profile == "FULL_PROFILE" || profile == "EMBEDDED_PROFILE", "{profile:?}");
    assert!(!info::text(query(CL_PLATFORM_VENDOR)).is_empty());
    info::value::<u64>(query(CL_PLATFORM_HOST_TIMER_RESOLUTION));
    if is_lockstep() {
        assert_eq!(info::text(query(CL_PLATFORM_VENDOR)), "Lockstep");
        assert_eq!(info::text(query(CL_PLATFORM_ICD_SUFFIX_KHR)), "LOCKSTEP");
        assert_eq!(profile, "FULL_PROFILE");
    }
}

#[test]
fn names_for_applications_that_look_for_others() {
    if !is_lockstep() {
        return;
    }
    let names = [
        ("LOCKSTEP_PLATFORM_NAME", "A platform"),
        ("LOCKSTEP_PLATFORM_VENDOR", "Its vendor"),
        ("LOCKSTEP_DEVICE_NAME", "A device"),
        ("LOCKSTEP_DEVICE_VENDOR", "Its maker"),
    ];
    let output = child::in_child("names_for_applications_that_look_for_others", &names, || {
        let mut count = 0;
        ok((cl().clGetPlatformIDs)(0, ptr::null_mut(), &mut count));
        let mut platforms = vec![ptr::null_mut(); count as usize];
        ok((cl().clGetPlatformIDs)(count, platforms.as_mut_ptr(), ptr::null_mut()));
        for platform in platforms {
            let of_platform = |name| {
                info::text(|size, value, returned| (cl().clGetPlatformInfo)(platform, name, size, value, returned))
            };
            if of_platform(CL_PLATFORM_ICD_SUFFIX_KHR) != "LOCKSTEP" {
                continue;
            }
            let mut device = ptr::null_mut();
            ok((cl().clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &mut device, ptr::null_mut()));
            let of_device =
                |name| info::text(|size, value, returned| (cl().clGetDeviceInfo)(device, name, size, value, returned));
            println!("{}, {}", of_platform(CL_PLATFORM_NAME), of_platform(CL_PLATFORM_VENDOR));
            println!("{}, {}", of_device(CL_DEVICE_NAME), of_device(CL_DEVICE_VENDOR));
        }
    });
    assert_eq!(output.stdout, "A platform, Its vendor\nA device, Its maker\n");
}

#[test]
fn switches_that_are_not_understood_are_said_once() {
    if !is_lockstep() {
        return;
    }
    let environment = [
        ("LOCKSTEP_VECTORISE", "scalar"),
        ("LOCKSTEP_SIMD", "100"),
        ("LOCKSTEP_PASSES", "-gatess"),
        ("LOCKSTEP_GATES", "0"),
        ("LOCKSTEP_REPORT", "/dev/null/reports"),
    ];
    let output = child::in_child("switches_that_are_not_understood_are_said_once", &environment, || {
        info::text(query(CL_PLATFORM_NAME));
        info::text(query(CL_PLATFORM_VENDOR));
    });
    let mut said: Vec<&str> = output.stderr.lines().filter(|line| line.starts_with("lockstep: ")).collect();
    said.sort_unstable();
    let wanted = [
        "lockstep: LOCKSTEP_PASSES=-gatess is not understood: no pass is called 'gatess' (did you mean 'gates'?); ignored",
        "lockstep: LOCKSTEP_REPORT=/dev/null/reports cannot be written: /dev/null is not a folder",
        "lockstep: LOCKSTEP_SIMD=100 is not 128, 256 or 512; ignored",
        "lockstep: no switch LOCKSTEP_VECTORISE; did you mean LOCKSTEP_VECTORIZE?",
    ];
    assert_eq!(said, wanted);
}

#[test]
fn extensions_with_and_without_version_agree() {
    let plain = info::text(query(CL_PLATFORM_EXTENSIONS));
    let mut plain: Vec<&str> = plain.split_whitespace().collect();
    plain.sort_unstable();
    let versioned: Vec<[u8; 68]> = info::array(query(CL_PLATFORM_EXTENSIONS_WITH_VERSION));
    let mut versioned: Vec<String> = versioned.iter().map(name_of).collect();
    versioned.sort_unstable();
    assert_eq!(plain, versioned);
    assert!(plain.contains(&"cl_khr_icd"));
}

/// The name in a `cl_name_version`, whose version comes first.
fn name_of(entry: &[u8; 68]) -> String {
    let name = &entry[4..];
    let end = name.iter().position(|&byte| byte == 0).expect("the name ends");
    String::from_utf8_lossy(&name[..end]).into_owned()
}

#[test]
fn unknown_query() {
    // "CL_INVALID_VALUE if param_name is not one of the supported values".
    expect(query(0x09ff)(0, ptr::null_mut(), ptr::null_mut()), CL_INVALID_VALUE);
}

#[test]
fn listing_platforms() {
    let list = cl().clGetPlatformIDs;
    let mut count = 0;
    ok(list(0, ptr::null_mut(), &mut count));
    assert!(count >= 1);
    expect(list(0, ptr::null_mut(), ptr::null_mut()), CL_INVALID_VALUE);
    let mut one = ptr::null_mut();
    expect(list(0, &mut one, ptr::null_mut()), CL_INVALID_VALUE);
    ok(list(1, &mut one, ptr::null_mut()));
    assert!(!one.is_null());
}

#[test]
fn extension_functions() {
    let address = |name: &str| {
        let name = CString::new(name).expect("a name");
        (cl().clGetExtensionFunctionAddressForPlatform)(platform(), name.as_ptr())
    };
    assert!(address("clNoSuchFunction").is_null());
    assert!(address("").is_null());
    assert!(
        (driver().clGetExtensionFunctionAddressForPlatform)(ptr::null_mut(), c"clIcdGetPlatformIDsKHR".as_ptr())
            .is_null()
    );
    // cl_khr_icd: the way by which the loader finds the platform's own functions.
    let direct = (driver().clGetExtensionFunctionAddress)(c"clIcdGetPlatformIDsKHR".as_ptr());
    assert!(!direct.is_null());
}

#[test]
fn dispatch_table_is_complete() {
    if !is_lockstep() {
        return;
    }
    let missing: Vec<&str> =
        ENTRY_POINTS.iter().filter(|entry| !loader::in_dispatch_table(entry.1)).map(|entry| entry.0).collect();
    assert!(missing.is_empty(), "not in the dispatch table: {missing:?}");
}

#[test]
fn unload_compiler() {
    ok((cl().clUnloadPlatformCompiler)(platform()));
    let code = (driver().clUnloadPlatformCompiler)(ptr::null_mut());
    assert_eq!(code, CL_INVALID_PLATFORM, "{}", code_name(code));
}

#[test]
fn only_what_others_look_up_by_name_is_exported() {
    if !is_lockstep() {
        return;
    }
    let path = loader::driver_library();
    let bytes = std::fs::read(&path).expect("the library can be read");
    let file = object::File::parse(&*bytes).expect("the library is an object file");
    let mut exported: Vec<String> = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition() && symbol.is_global())
        .map(|symbol| symbol.name().expect("a name").to_owned())
        .collect();
    exported.sort();
    // GDB's JIT interface, cl_khr_icd 2.0, and nothing of what is linked into the library.
    let debuggers = ["__jit_debug_descriptor", "__jit_debug_register_code"];
    let icd = ["clGetExtensionFunctionAddress", "clGetPlatformInfo", "clIcdGetPlatformIDsKHR"];
    assert_eq!(exported, [&debuggers[..], &icd].concat(), "{path}");
}

#[test]
fn a_process_that_only_lists_platforms_ends_well() {
    let output = child::in_child("a_process_that_only_lists_platforms_ends_well", &[], || {
        println!("{}", loader::platform_name() == info::text(query(CL_PLATFORM_NAME)));
    });
    assert_eq!(output.stdout, "true\n");
}
