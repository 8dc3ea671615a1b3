//! Every error that the specification lists for every entry point, by tables of calls with one thing wrong.
//!
//! `listed.txt` has what the specification lists; each error of each function has a row here. Not there, as nothing can
//! bring them about on this device or by any call:
//!
//! - what has run out: `CL_OUT_OF_HOST_MEMORY`, `CL_OUT_OF_RESOURCES`, `CL_MEM_OBJECT_ALLOCATION_FAILURE`,
//!   `CL_MAP_FAILURE`, `CL_DEVICE_NOT_AVAILABLE`, `CL_COMPILER_NOT_AVAILABLE`, `CL_LINKER_NOT_AVAILABLE`;
//! - devices of a context that differ in what they can: `CL_INVALID_KERNEL_DEFINITION`, and of commands
//!   `CL_MISALIGNED_SUB_BUFFER_OFFSET`, `CL_INVALID_IMAGE_SIZE` and `CL_IMAGE_FORMAT_NOT_SUPPORTED`;
//! - what needs two devices, which `sub_devices.rs` makes: `CL_INVALID_PROGRAM_EXECUTABLE` of launches, `CL_INVALID_DEVICE`
//!   of `clEnqueueCommandBufferKHR`;
//! - `CL_INVALID_OPERATION`, `CL_INVALID_PROPERTY` and `CL_INVALID_QUEUE_PROPERTIES` because no device supports what this
//!   one does: images, pipes, shared virtual memory, timers, sub-groups, native kernels, both bits of host queues;
//! - what belongs to features that are not there: `CL_INVALID_MIP_LEVEL`, `CL_INVALID_DEVICE_QUEUE`, `CL_INVALID_SPEC_ID`,
//!   `CL_MAX_SIZE_RESTRICTION_EXCEEDED`, `CL_INCOMPATIBLE_COMMAND_QUEUE_KHR`, and those of external memory and semaphores,
//!   immutable objects, Direct3D, OpenGL and context termination; the functions of intermediate languages, of destructors
//!   of program-scope variables and of device queues answer `CL_INVALID_OPERATION` to whatever else is wrong;
//! - `CL_INVALID_GLOBAL_WORK_SIZE` of `clEnqueueNDRangeKernel`, which ended with OpenCL 2.1, and `CL_INVALID_VALUE` of
//!   `clEnqueueMemAdviseINTEL`, for later advice, which is ignored;
//! - `CL_INVALID_CONTEXT` of a command queue given to a command buffer's recording, where any is `CL_INVALID_COMMAND_QUEUE`;
//! - `CL_INVALID_BINARY` of builds, as no program is made of a binary that does not fit, and
//!   `CL_KERNEL_ARG_INFO_NOT_AVAILABLE`, as the information is always kept but for SPIR-V (`intermediate_language.rs`);
//! - `CL_INVALID_PLATFORM` for want of a platform: there is one to choose.
//!
//! That null is no object is tested here; all else that is none, in `bad_handles.rs`.

#[macro_use]
mod table;
mod buffer;
mod command_buffer;
mod context;
mod event;
mod image;
mod kernel;
mod platform;
mod program;
mod sentences;
mod small;
mod svm;
mod usm;
mod world;

use std::collections::BTreeSet;

use lockstep_conformance::entry_points::ENTRY_POINTS;
use lockstep_conformance::extension_functions as extensions;
use lockstep_conformance::{code_name, is_lockstep};
use table::Row;
use world::World;

fn check(rows: &[Row]) {
    if !is_lockstep() {
        // Null for an object is undefined with some drivers, and the ICD loader follows it.
        return;
    }
    let world = World::new();
    let mut wrong = vec![];
    for row in rows {
        let got = (row.call)(&world);
        if got != row.code {
            let (got, expected) = (code_name(got), code_name(row.code));
            wrong.push(format!("{} with {}: {got} instead of {expected}", row.function, row.wrong));
        }
    }
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

/// A test for each table, and all of them together.
macro_rules! tables {
    ($($name:ident)*) => {
        mod of {
            $(#[test]
            fn $name() {
                super::check(&super::$name::rows());
            })*
        }

        fn all() -> Vec<Row> {
            [$($name::rows()),*].into_iter().flatten().collect()
        }
    };
}

tables! { buffer command_buffer context event image kernel platform program small svm usm }

#[test]
fn every_listed_error_has_a_row() {
    let rows: BTreeSet<String> = all().iter().map(|row| format!("{} {}", row.function, code_name(row.code))).collect();
    let mut missing = vec![];
    for line in include_str!("listed.txt").lines() {
        let (function, codes) = line.split_once(' ').unwrap_or((line, ""));
        let listed = codes.split_whitespace().map(|code| format!("{function} {code}"));
        missing.extend(listed.filter(|error| !rows.contains(error)));
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The names of all functions of extensions.
fn extension_names() -> Vec<&'static str> {
    [
        extensions::UnifiedMemory::NAMES,
        extensions::CommandBuffers::NAMES,
        extensions::MutableDispatch::NAMES,
        extensions::CreateCommandQueue::NAMES,
        extensions::SuggestedLocalWorkSize::NAMES,
        extensions::IntermediateLanguage::NAMES,
        extensions::Semaphores::NAMES,
        extensions::DeviceAddress::NAMES,
    ]
    .concat()
}

#[test]
fn every_entry_point_is_listed() {
    // They return no codes.
    let silent = [
        "clUnloadCompiler",
        "clGetExtensionFunctionAddress",
        "clGetExtensionFunctionAddressForPlatform",
        "clSVMAlloc",
        "clSVMFree",
    ];
    let listed: Vec<&str> = include_str!("listed.txt").lines().filter_map(|line| line.split(' ').next()).collect();
    let names = ENTRY_POINTS.iter().map(|entry| entry.0).chain(extension_names());
    let missing: Vec<&str> = names.filter(|name| !listed.contains(name) && !silent.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
