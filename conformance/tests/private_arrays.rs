//! Private arrays whose length only a run tells (`SPV_INTEL_variable_length_array`): what kernels keep in them, and launches whose work-items
//! want more memory than there is.

use lockstep_conformance::commands::launch;
use lockstep_conformance::messages::listening_setup;
use lockstep_conformance::objects::Argument;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Buffer, Setup, arguments, is_lockstep, read, run};
use lockstep_spirv_assembler::assemble_module;

/// A module whose kernels are those that the compiler's tests interpret.
const AT_RUN_TIME: &str = include_str!("../../compiler/tests/spirv/variable_length_at_run_time.spvasm");

/// A kernel whose work-items store their ids in the last elements of arrays of `long`, whose lengths they read, and go on as `rest` says:
/// `%element_at` is the last element's address, `%id` and `%id32` are the id, `%place` is read from a third buffer.
fn assemble_kernel(rest: &str) -> Vec<u8> {
    let module = format!(
        r#"
    OpCapability Addresses
    OpCapability Kernel
    OpCapability Groups
    OpCapability Int64
    OpCapability VariableLengthArrayINTEL
    OpExtension "SPV_INTEL_variable_length_array"
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %f "f" %gid
    OpDecorate %gid BuiltIn GlobalInvocationId
    %void = OpTypeVoid
    %bool = OpTypeBool
    %int = OpTypeInt 32 0
    %long = OpTypeInt 64 0
    %long3 = OpTypeVector %long 3
    %global_int = OpTypePointer CrossWorkgroup %int
    %private_long = OpTypePointer Function %long
    %input = OpTypePointer Input %long3
    %zero = OpConstant %int 0
    %one = OpConstant %int 1
    %five = OpConstant %int 5
    %none = OpConstant %long 0
    %middle = OpConstant %long 37
    %sixteen = OpConstant %long 16
    %device = OpConstant %int 1
    %workgroup = OpConstant %int 2
    %subgroup = OpConstant %int 3
    %acquire = OpConstant %int 514
    %release = OpConstant %int 516
    %both = OpConstant %int 528
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
    %array = OpVariableLengthArrayINTEL %private_long %length
    %last = OpISub %int %length %one
    %element_at = OpInBoundsPtrAccessChain %private_long %array %last
    OpStore %element_at %id Aligned 8
    %place_at = OpInBoundsPtrAccessChain %global_int %places %id
    %place = OpLoad %int %place_at Aligned 4
    {rest}
    OpReturn
    OpFunctionEnd"#
    );
    assemble_module(&module, (1, 4))
}

/// Each work-item writes what it has kept to a place of its own behind a barrier.
const BARRIER: &str = "
    OpControlBarrier %workgroup %workgroup %both
    %value = OpLoad %long %element_at Aligned 8
    %value32 = OpUConvert %int %value
    %out_at = OpInBoundsPtrAccessChain %global_int %out %place
    OpStore %out_at %value32 Aligned 4";

/// The same with an address that one work-item of the sub-group, the one that may fail, has kept for all of them.
const SUB_GROUP: &str = "
    %address = OpConvertPtrToU %long %out
    OpStore %element_at %address Volatile|Aligned 8
    %own = OpLoad %long %element_at Volatile|Aligned 8
    %kept = OpGroupBroadcast %long %subgroup %own %five
    %pointer = OpConvertUToPtr %global_int %kept
    %out_at = OpInBoundsPtrAccessChain %global_int %pointer %place
    OpStore %out_at %id32 Aligned 4";

/// The same behind a sum of all work-items of the group.
const REDUCTION: &str = "
    %value = OpLoad %long %element_at Aligned 8
    %sum = OpGroupIAdd %long %workgroup Reduce %value
    %is_less = OpSLessThan %bool %sum %none
    %value32 = OpUConvert %int %value
    %written = OpSelect %int %is_less %zero %value32
    %out_at = OpInBoundsPtrAccessChain %global_int %out %place
    OpStore %out_at %written Aligned 4";

/// The same when the work-item in the middle has written its own.
const WAITING: &str = "
    %middle_place_at = OpInBoundsPtrAccessChain %global_int %places %middle
    %middle_place = OpLoad %int %middle_place_at Aligned 4
    %middle_at = OpInBoundsPtrAccessChain %global_int %out %middle_place
    %own_at = OpInBoundsPtrAccessChain %global_int %out %place
    OpAtomicStore %own_at %device %release %id32
    OpBranch %wait
    %wait = OpLabel
    %seen = OpAtomicLoad %int %middle_at %device %acquire
    %waits = OpSLessThan %bool %seen %zero
    OpBranchConditional %waits %wait %done
    %done = OpLabel";

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

/// Arrays of one element, made in a block that runs once, more of them than the front end looks for loops around. Each has an element of its
/// own: were two of them one, the sum would be another.
#[test]
fn many_arrays_of_known_length_are_apart() {
    const ARRAYS: usize = 70;
    if !is_lockstep() {
        return;
    }
    let mut rest = String::from("    OpBranch %next\n    %next = OpLabel\n");
    (0..ARRAYS).for_each(|index| {
        rest += &format!("    %a{index} = OpVariableLengthArrayINTEL %private_long %one\n");
        rest += &format!("    %n{index} = OpIMul %long %id %middle\n");
        rest +=
            &format!("    %v{index} = OpIAdd %long %n{index} %{}\n", if index % 2 == 0 { "sixteen" } else { "none" });
        rest += &format!("    OpStore %a{index} %v{index} Volatile|Aligned 8\n");
    });
    rest += "    %s0 = OpLoad %long %a0 Volatile|Aligned 8\n";
    (1..ARRAYS).for_each(|index| {
        rest += &format!("    %e{index} = OpLoad %long %a{index} Volatile|Aligned 8\n");
        rest += &format!("    %s{index} = OpIAdd %long %s{} %e{index}\n", index - 1);
    });
    rest += &format!("    %sum = OpUConvert %int %s{}\n", ARRAYS - 1);
    rest += "    %out_at = OpInBoundsPtrAccessChain %global_int %out %id\n    OpStore %out_at %sum Aligned 4";
    let setup = Setup::new();
    let kernel = setup.context.build_module(&assemble_kernel(&rest)).kernel("f");
    let (out, ones) = (setup.context.zeros::<i32>(ITEMS), setup.context.with_values(&[1; ITEMS]));
    kernel.set_all(arguments![&out, &ones, &ones]);
    run(&setup.queue, &kernel, &[ITEMS], &[GROUP]);
    let wanted: Vec<i32> = (0..ITEMS).map(|id| (ARRAYS * id * 37 + ARRAYS / 2 * 16) as i32).collect();
    assert_eq!(read::<i32>(&setup.queue, &out), wanted);
}

/// Work-items of launches that may fail, and those of a group.
const ITEMS: usize = 64;
const GROUP: usize = 16;

/// The work-item whose array does not fit; the others wait for this one where they wait. It is the sixth of its sub-group, whose size is 8, 16
/// or 32.
const FAILING: usize = 37;

/// Where a work-item of such a launch writes.
fn place_of(id: usize) -> usize {
    (id * 29 + 3) % ITEMS
}

/// Launches a kernel with arrays that fit, with one that does not, and with the longest that fits.
fn check_failures(rest: &str, local: usize) {
    if !is_lockstep() {
        return;
    }
    let (setup, messages) = listening_setup();
    let kernel = setup.context.build_module(&assemble_kernel(rest)).kernel("f");
    let places: Vec<i32> = (0..ITEMS).map(|id| place_of(id) as i32).collect();
    let places: Buffer = setup.context.with_values(&places);
    let launch_with = |lengths: &[i32]| {
        let (out, input) = (setup.context.with_values(&[-1; ITEMS]), setup.context.with_values(lengths));
        kernel.set_all([&out, &input, &places].map(Argument::from).into());
        let event = launch(&setup.queue, &kernel, &[ITEMS], &[local], &[]);
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
    for length in [8_193, i32::MAX, -1] {
        lengths[FAILING] = length;
        let (status, left) = launch_with(&lengths);
        assert_eq!(status, CL_OUT_OF_RESOURCES, "{length}");
        // The work-item has not gone on, and others have written theirs or not.
        assert_eq!(left[place_of(FAILING)], -1, "{length}");
        assert!((0..ITEMS).all(|id| [-1, id as i32].contains(&left[place_of(id)])), "{length}: {left:?}");
        if [BARRIER, REDUCTION].contains(&rest) {
            // Nobody of its group has gone on behind that.
            let of_group = FAILING / local * local..(FAILING / local + 1) * local;
            assert!(of_group.into_iter().all(|id| left[place_of(id)] == -1), "{length}: {left:?}");
        }
        let told = messages.take_all();
        let array = format!("an array of {} elements of 8 bytes: 65536 of 65536 bytes are left", length as u32);
        assert!(told.contains(&array), "{told}");
    }
    lengths[FAILING] = 8_192;
    assert_eq!(launch_with(&lengths), (CL_COMPLETE, wanted));
}

/// The same when the one with the same id in the group before, if there is one, has written its own.
const WAITING_FOR_GROUP_BEFORE: &str = "
    %own_at = OpInBoundsPtrAccessChain %global_int %out %place
    OpAtomicStore %own_at %device %release %id32
    %before = OpISub %long %id %sixteen
    %is_first = OpULessThan %bool %id %sixteen
    %awaited = OpSelect %long %is_first %id %before
    %awaited_place_at = OpInBoundsPtrAccessChain %global_int %places %awaited
    %awaited_place = OpLoad %int %awaited_place_at Aligned 4
    %awaited_at = OpInBoundsPtrAccessChain %global_int %out %awaited_place
    OpBranch %wait
    %wait = OpLabel
    %seen = OpAtomicLoad %int %awaited_at %device %acquire
    %waits = OpSLessThan %bool %seen %zero
    OpBranchConditional %waits %wait %done
    %done = OpLabel";

#[test]
fn a_group_does_not_go_on_behind_a_barrier() {
    check_failures(BARRIER, GROUP);
}

#[test]
fn a_sub_group_does_not_go_on() {
    check_failures(SUB_GROUP, GROUP);
    check_failures(SUB_GROUP, ITEMS);
}

#[test]
fn a_group_does_not_go_on_behind_a_sum() {
    check_failures(REDUCTION, GROUP);
}

#[test]
fn nobody_waits_for_a_work_item_that_does_not_come() {
    check_failures(WAITING, ITEMS);
    // Groups begin one after the other, so that they may wait for one before.
    check_failures(WAITING_FOR_GROUP_BEFORE, GROUP);
}

/// A kernel whose private variables are aligned to so many bytes: a small one, a large one, and one that is kept behind a barrier. It adds up
/// what is in them, and writes their addresses: what it said of these itself would be known when it is compiled.
fn aligned_source(alignment: u64) -> String {
    format!(
        "#define ALIGNED __attribute__((aligned({alignment})))
        kernel void f(global int *out, global const int *input, global ulong *addresses) {{
            int id = get_global_id(0);
            int small[4] ALIGNED; int large[3000] ALIGNED; int kept[5] ALIGNED;
            for (int i = 0; i < 4; i++) small[i] = input[i] + id;
            for (int i = 0; i < 3000; i++) large[i] = i * id;
            for (int i = 0; i < 5; i++) kept[i] = id * 5 + i;
            addresses[4 * id] = (ulong)small; addresses[4 * id + 1] = (ulong)large; addresses[4 * id + 2] = (ulong)kept;
            barrier(CLK_LOCAL_MEM_FENCE);
            addresses[4 * id + 3] = (ulong)kept;
            out[id] = SUM(small[input[0] & 3] + large[input[1] + id] + kept[input[2] & 3]);
        }}"
    )
}

#[test]
fn variables_are_aligned_as_widely_as_programs_say() {
    let setup = Setup::new();
    let input = setup.context.with_values(&[2, 7, 3, 1]);
    let values: Vec<i32> = (0..ITEMS as i32).map(|id| (3 + id) + (7 + id) * id + (id * 5 + 3)).collect();
    let as_sub_groups = "-cl-std=CL3.0 -DSUM(x)=sub_group_broadcast(x,get_sub_group_local_id())";
    for alignment in [16, 128, 256, 4096, 16_384] {
        for options in ["-DSUM(x)=(x)", as_sub_groups] {
            let kernel = setup.context.build(&aligned_source(alignment), options).kernel("f");
            for local in [1, GROUP, ITEMS] {
                let (out, addresses) = (setup.context.zeros::<i32>(ITEMS), setup.context.zeros::<u64>(4 * ITEMS));
                kernel.set_all(arguments![&out, &input, &addresses]);
                run(&setup.queue, &kernel, &[ITEMS], &[local]);
                let message = format!("{alignment} {options} {local}");
                assert_eq!(read::<i32>(&setup.queue, &out), values, "{message}");
                let addresses = read::<u64>(&setup.queue, &addresses);
                assert!(addresses.iter().all(|address| *address != 0 && address % alignment == 0), "{message}");
                assert!(addresses.chunks_exact(4).all(|of_item| of_item[2] == of_item[3]), "{message}");
            }
        }
    }
}

/// No alignment ends the application.
#[test]
fn the_widest_alignment_runs_or_fails() {
    let setup = Setup::new();
    let source = "kernel void f(global int *out, int n) {
            int variable[4] __attribute__((aligned(1 << 28)));
            for (int i = 0; i < 4; i++) variable[i] = i * n;
            out[get_global_id(0)] = variable[n & 3] + ((ulong)variable % (1 << 28) != 0);
        }";
    let kernel = setup.context.build(source, "").kernel("f");
    let out = setup.context.zeros::<i32>(ITEMS);
    kernel.set_all(arguments![&out, 3_i32]);
    let event = launch(&setup.queue, &kernel, &[ITEMS], &[GROUP], &[]);
    match event.wait() {
        CL_SUCCESS => assert_eq!(read::<i32>(&setup.queue, &out), vec![9; ITEMS]),
        _ => assert_eq!(event.status(), CL_OUT_OF_RESOURCES),
    }
}

/// Hundreds of variables, each in a page of its own, in a kernel whose work-items wait for each other on stacks of their own.
#[test]
fn waiting_work_items_have_room_for_wide_alignments() {
    const VARIABLES: usize = 400;
    let mut body = String::new();
    (0..VARIABLES).for_each(|index| {
        body.push_str(&format!("int v{index}[2] __attribute__((aligned(4096)));\n"));
        body.push_str(&format!("v{index}[k & 1] = id + {index}; v{index}[~k & 1] = k;\n"));
    });
    body.push_str("if (id == 63) atomic_store(flag, 1); else while (!atomic_load(flag));\nint sum = 0;\n");
    (0..VARIABLES).for_each(|index| body.push_str(&format!("sum += v{index}[k & 1];\n")));
    let source = format!(
        "kernel void f(global int *out, volatile global atomic_int *flag, int k) {{
            int id = get_global_id(0);\n{body} out[id] = sum;
        }}"
    );
    let setup = Setup::new();
    let kernel = setup.context.build(&source, "-cl-std=CL3.0").kernel("f");
    let (out, flag) = (setup.context.zeros::<i32>(ITEMS), setup.context.zeros::<i32>(1));
    kernel.set_all(arguments![&out, &flag, 1_i32]);
    run(&setup.queue, &kernel, &[ITEMS], &[ITEMS]);
    let sum_of = |id: usize| (0..VARIABLES).map(|index| (id + index) as i32).sum::<i32>();
    assert_eq!(read::<i32>(&setup.queue, &out), (0..ITEMS).map(sum_of).collect::<Vec<_>>());
}
