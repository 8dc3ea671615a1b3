//! Private arrays whose length only a run tells (`SPV_INTEL_variable_length_array`): what kernels keep in them, and launches whose work-items
//! want more memory than there is.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::Mutex;

use lockstep_conformance::commands::launch;
use lockstep_conformance::loader::{cl, device};
use lockstep_conformance::objects::{Argument, Context};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Buffer, Setup, arguments, is_lockstep, ok, read, run};
use lockstep_spirv_assembler::assemble_module;

/// A module whose kernels are those that the compiler's tests interpret.
const AT_RUN_TIME: &str = include_str!("../../compiler/tests/spirv/variable_length_at_run_time.spvasm");

/// Each work-item keeps its id in the last element of an array, whose length it reads, and writes it to a place of its own behind a barrier.
const BARRIER: &str = r#"
    OpCapability Addresses
    OpCapability Kernel
    OpCapability Int64
    OpCapability VariableLengthArrayINTEL
    OpExtension "SPV_INTEL_variable_length_array"
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %f "behind_barrier" %gid
    OpDecorate %gid BuiltIn GlobalInvocationId
    %void = OpTypeVoid
    %int = OpTypeInt 32 0
    %long = OpTypeInt 64 0
    %long3 = OpTypeVector %long 3
    %global_int = OpTypePointer CrossWorkgroup %int
    %private_int = OpTypePointer Function %int
    %input = OpTypePointer Input %long3
    %one = OpConstant %int 1
    %workgroup = OpConstant %int 2
    %semantics = OpConstant %int 528
    %gid = OpVariable %input Input
    %type = OpTypeFunction %void %global_int %global_int %global_int
    %f = OpFunction %void None %type
    %out = OpFunctionParameter %global_int
    %lengths = OpFunctionParameter %global_int
    %places = OpFunctionParameter %global_int
    %start = OpLabel
    %ids = OpLoad %long3 %gid
    %id = OpCompositeExtract %long %ids 0
    %id32 = OpUConvert %int %id
    %length_at = OpInBoundsPtrAccessChain %global_int %lengths %id
    %length = OpLoad %int %length_at Aligned 4
    %array = OpVariableLengthArrayINTEL %private_int %length
    %last = OpISub %int %length %one
    %last_at = OpInBoundsPtrAccessChain %private_int %array %last
    OpStore %last_at %id32 Aligned 4
    %place_at = OpInBoundsPtrAccessChain %global_int %places %id
    %place = OpLoad %int %place_at Aligned 4
    OpControlBarrier %workgroup %workgroup %semantics
    %value = OpLoad %int %last_at Aligned 4
    %out_at = OpInBoundsPtrAccessChain %global_int %out %place
    OpStore %out_at %value Aligned 4
    OpReturn
    OpFunctionEnd"#;

static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

extern "C" fn keep_message(message: *const c_char, _: *const c_void, _: usize, _: *mut c_void) {
    // SAFETY: the driver hands a terminated string over for the time of the call.
    let message = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    TOLD.lock().expect("no panic").push(message);
}

/// A context whose messages are kept, and a queue.
fn listening_setup() -> Setup {
    let mut code = CL_SUCCESS;
    let raw = (cl().clCreateContext)(ptr::null(), 1, &device(), Some(keep_message), ptr::null_mut(), &mut code);
    ok(code);
    let context = Context::own(raw);
    let queue = context.queue(0);
    Setup { context, queue }
}

/// What a kernel of the module leaves in its first buffer, which is as long as the second one.
fn run_with_lengths(setup: &Setup, name: &str, lengths: &[i32], local: usize) -> Vec<i32> {
    let kernel = setup.context.build_module(&assemble_module(AT_RUN_TIME, (1, 4))).kernel(name);
    let (out, input) = (setup.context.zeros::<i32>(lengths.len()), setup.context.with_values(lengths));
    kernel.set_all(arguments![&out, &input]);
    run(&setup.queue, &kernel, &[lengths.len()], &[local]);
    read::<i32>(&setup.queue, &out)
}

#[test]
fn each_work_item_has_an_array_of_its_own_length() {
    if !is_lockstep() {
        return;
    }
    let setup = Setup::new();
    let lengths: Vec<i32> = (0..192).map(|id| (id * 37 + 5) % 61).collect();
    let weigh = |length: i32, first: i32| (0..length).map(|j| (first + j) * (length - j)).sum::<i32>();
    let called: Vec<i32> = (0..).zip(&lengths).map(|(id, &length)| weigh(length, id) + weigh(length, 100)).collect();
    let kept: Vec<i32> = lengths.iter().map(|&length| if length > 0 { 100 + length } else { 0 }).collect();
    // Groups of whole gangs, of parts of one, and of one work-item.
    for local in [64, 12, 1] {
        assert_eq!(run_with_lengths(&setup, "calls", &lengths, local), called, "{local}");
        assert_eq!(run_with_lengths(&setup, "kept", &lengths, local), kept, "{local}");
        assert_eq!(run_with_lengths(&setup, "bytes", &lengths, local), lengths, "{local}");
    }
    // Twenty of these arrays are more than all the memory, but each ends before the next.
    let large: Vec<i32> = (0..64).map(|id| 16_384 - id).collect();
    assert_eq!(run_with_lengths(&setup, "rounds", &large, 32), vec![190; 64]);
}

/// Work-items of the test of barriers, and those of a group.
const ITEMS: usize = 64;
const GROUP: usize = 16;

/// Where a work-item of the test of barriers writes.
fn place_of(id: usize) -> usize {
    (id * 29 + 3) % ITEMS
}

#[test]
fn a_launch_fails_whose_arrays_do_not_fit_and_the_next_one_runs() {
    if !is_lockstep() {
        return;
    }
    let setup = listening_setup();
    let kernel = setup.context.build_module(&assemble_module(BARRIER, (1, 4))).kernel("behind_barrier");
    let places: Vec<i32> = (0..ITEMS).map(|id| place_of(id) as i32).collect();
    let places: Buffer = setup.context.with_values(&places);
    let launch_with = |lengths: &[i32]| {
        let (out, input) = (setup.context.with_values(&[-1; ITEMS]), setup.context.with_values(lengths));
        kernel.set_all([&out, &input, &places].map(Argument::from).into());
        let event = launch(&setup.queue, &kernel, &[ITEMS], &[GROUP], &[]);
        let status = match event.wait() {
            CL_SUCCESS => CL_COMPLETE,
            _ => event.status(),
        };
        (status, read::<i32>(&setup.queue, &out))
    };
    let mut wanted = vec![-1; ITEMS];
    (0..ITEMS).for_each(|id| wanted[place_of(id)] = id as i32);
    let mut lengths = [40; ITEMS];
    assert_eq!(launch_with(&lengths), (CL_COMPLETE, wanted.clone()));
    // Too long by one element, more than bytes can be counted, and below zero, which is the same as very long.
    for length in [16_385, i32::MAX, -1] {
        lengths[2 * GROUP + 5] = length;
        TOLD.lock().expect("no panic").clear();
        let (status, left) = launch_with(&lengths);
        assert_eq!(status, CL_OUT_OF_RESOURCES, "{length}");
        // Nobody of its group went on behind the barrier; other groups may have.
        for id in 0..ITEMS {
            let value = left[place_of(id)];
            assert!(value == -1 || value == id as i32 && id / GROUP != 2, "{length}: {value} of work-item {id}");
        }
        let told = TOLD.lock().expect("no panic").join("\n");
        let array = format!("an array of {} elements of 4 bytes: 65536 of 65536 bytes are left", length as u32);
        assert!(told.contains(&array), "{told}");
    }
    lengths[2 * GROUP + 5] = 16_384;
    assert_eq!(launch_with(&lengths), (CL_COMPLETE, wanted));
}
