//! Instructions of SPIR-V by which groups and sub-groups combine and exchange numbers of 8 and 16 bits, of which OpenCL C has some only, and
//! vectors, compared with what the host computes.

use std::fmt::Write;

use lockstep_conformance::loader::has_extension;
use lockstep_conformance::objects::Program;
use lockstep_conformance::{Random, Setup, arguments, read, run};
use lockstep_spirv_assembler::assemble_module;

/// Work-items of all groups, and of one; no multiple of the size of a sub-group.
const ITEMS: usize = 80;
const GROUP: usize = 40;

/// A type of numbers of a few bits.
#[derive(Clone, Copy)]
struct Small {
    /// Its declaration in SPIR-V.
    declaration: &'static str,
    bits: u32,
    is_float: bool,
    /// Instructions that combine its values.
    operations: &'static [&'static str],
}

const INTEGER_OPERATIONS: &[&str] = &[
    "GroupIAdd",
    "GroupSMin",
    "GroupUMin",
    "GroupSMax",
    "GroupUMax",
    "GroupIMulKHR",
    "GroupBitwiseAndKHR",
    "GroupBitwiseOrKHR",
    "GroupBitwiseXorKHR",
];

const TYPES: [Small; 3] = [
    Small { declaration: "OpTypeInt 8 0", bits: 8, is_float: false, operations: INTEGER_OPERATIONS },
    Small { declaration: "OpTypeInt 16 0", bits: 16, is_float: false, operations: INTEGER_OPERATIONS },
    Small {
        declaration: "OpTypeFloat 16",
        bits: 16,
        is_float: true,
        operations: &["GroupFAdd", "GroupFMin", "GroupFMax"],
    },
];

const KINDS: [&str; 3] = ["Reduce", "InclusiveScan", "ExclusiveScan"];
/// The constants that name work-groups and sub-groups.
const SCOPES: [&str; 2] = ["%workgroup", "%subgroup"];

/// A module whose kernel leaves, for each operation, kind and scope, what it gives each work-item; then what vectors are broadcast
/// to; and at the end the number of each work-item's sub-group.
fn spell_module(small: Small) -> String {
    let Small { declaration, is_float, .. } = small;
    let (narrow, widen) = match is_float {
        true => ("OpConvertSToF %small %number", "OpConvertFToS %int"),
        false => ("OpUConvert %small %number", "OpSConvert %int"),
    };
    let mut text = format!(
        "OpCapability Addresses\nOpCapability Kernel\nOpCapability Int64\nOpCapability Int16\nOpCapability Int8
        OpCapability Float16\nOpCapability Groups\nOpCapability SubgroupDispatch\nOpCapability GroupNonUniform
        OpCapability GroupNonUniformBallot\nOpCapability GroupUniformArithmeticKHR
        OpExtension \"SPV_KHR_uniform_group_instructions\"\nOpMemoryModel Physical64 OpenCL
        OpEntryPoint Kernel %f \"combine\" %gid %sid\nOpDecorate %gid BuiltIn GlobalInvocationId
        OpDecorate %sid BuiltIn SubgroupId\n%void = OpTypeVoid\n%int = OpTypeInt 32 0\n%long = OpTypeInt 64 0
        %small = {declaration}\n%small2 = OpTypeVector %small 2\n%long3 = OpTypeVector %long 3
        %global = OpTypePointer CrossWorkgroup %int\n%input3 = OpTypePointer Input %long3
        %input = OpTypePointer Input %int\n%workgroup = OpConstant %int 2\n%subgroup = OpConstant %int 3
        %items = OpConstant %long {ITEMS}\n%five = OpConstant %long 5\n%three = OpConstant %int 3
        %gid = OpVariable %input3 Input\n%sid = OpVariable %input Input\n%type = OpTypeFunction %void %global %global
        %f = OpFunction %void None %type\n%out = OpFunctionParameter %global\n%in = OpFunctionParameter %global
        %start = OpLabel\n%ids = OpLoad %long3 %gid\n%id = OpCompositeExtract %long %ids 0
        %from = OpInBoundsPtrAccessChain %global %in %id\n%number = OpLoad %int %from\n%value = {narrow}
        %slot0 = OpInBoundsPtrAccessChain %global %out %id\n"
    );
    let mut count = 0;
    let mut store = |text: &mut String, line: &str| {
        let next = count + 1;
        writeln!(
            text,
            "%result{count} = {line}\n%wide{count} = {widen} %result{count}\nOpStore %slot{count} %wide{count}"
        )
        .unwrap();
        writeln!(text, "%slot{next} = OpInBoundsPtrAccessChain %global %slot{count} %items").unwrap();
        count = next;
    };
    for operation in small.operations {
        for (kind, scope) in KINDS.iter().flat_map(|kind| SCOPES.map(|scope| (kind, scope))) {
            store(&mut text, &format!("Op{operation} %small {scope} {kind} %value"));
        }
    }
    text.push_str("%twice = OpCompositeConstruct %small2 %value %value\n");
    text.push_str("%from_group = OpGroupBroadcast %small2 %workgroup %twice %five\n");
    text.push_str("%from_lane = OpGroupNonUniformBroadcast %small2 %subgroup %twice %three\n");
    store(&mut text, "OpCompositeExtract %small %from_group 1");
    store(&mut text, "OpCompositeExtract %small %from_lane 1");
    writeln!(text, "%own = OpLoad %int %sid\nOpStore %slot{count} %own\nOpReturn\nOpFunctionEnd").unwrap();
    text
}

/// What an operation makes of two numbers; they have as many bits as the type, with a sign.
fn combine(small: Small, operation: &str, left: i64, right: i64) -> i64 {
    let unsigned = |number: i64| number as u64 & (u64::MAX >> (64 - small.bits));
    let wrap = |number: i64| if small.is_float { number } else { number << (64 - small.bits) >> (64 - small.bits) };
    wrap(match operation {
        "GroupIAdd" | "GroupFAdd" => left + right,
        "GroupSMin" | "GroupFMin" => left.min(right),
        "GroupSMax" | "GroupFMax" => left.max(right),
        "GroupUMin" if unsigned(right) < unsigned(left) => right,
        "GroupUMax" if unsigned(right) > unsigned(left) => right,
        "GroupUMin" | "GroupUMax" => left,
        "GroupIMulKHR" => left * right,
        "GroupBitwiseAndKHR" => left & right,
        "GroupBitwiseOrKHR" => left | right,
        _ => left ^ right,
    })
}

/// What stands before the first number; none of floats' minima and maxima, which are infinities and not converted.
fn identity(small: Small, operation: &str) -> Option<i64> {
    let greatest = (1 << (small.bits - 1)) - 1;
    match operation {
        "GroupFMin" | "GroupFMax" => None,
        "GroupSMin" => Some(greatest),
        "GroupSMax" => Some(-greatest - 1),
        "GroupUMin" | "GroupBitwiseAndKHR" => Some(-1),
        "GroupIMulKHR" => Some(1),
        _ => Some(0),
    }
}

/// Compares what an operation gave the work-items of one group with what the host computes.
fn check_group(small: Small, operation: &str, kind: &str, values: &[i64], found: &[i64]) {
    let all = values.iter().copied().reduce(|left, right| combine(small, operation, left, right));
    let mut before = identity(small, operation);
    for (index, (&value, &found)) in values.iter().zip(found).enumerate() {
        let own = match (before, index) {
            (_, 0) => value,
            (Some(before), _) => combine(small, operation, before, value),
            (None, _) => value,
        };
        let wanted = match kind {
            "Reduce" => all,
            "InclusiveScan" => Some(own),
            _ => before,
        };
        assert!(wanted.is_none_or(|wanted| wanted == found), "{operation} {kind} {index}: {found}, not {wanted:?}");
        before = Some(own);
    }
}

fn run_program(setup: &Setup, program: &Program, numbers: &[i32], rows: usize) -> Vec<Vec<i64>> {
    let (out, input) = (setup.context.zeros::<i32>(rows * ITEMS), setup.context.with_values(numbers));
    let kernel = program.kernel("combine");
    kernel.set_all(arguments![&out, &input]);
    run(&setup.queue, &kernel, &[ITEMS], &[GROUP]);
    let found = read::<i32>(&setup.queue, &out);
    found.chunks(ITEMS).map(|row| row.iter().map(|&number| number.into()).collect()).collect()
}

#[test]
fn small_numbers_are_combined_and_broadcast() {
    if !has_extension("cl_khr_il_program") {
        return;
    }
    let setup = Setup::new();
    for small in TYPES {
        let mut random = Random::new(0x38);
        // Sums of so many halfs are exact.
        let numbers: Vec<i32> = (0..ITEMS)
            .map(|_| {
                if small.is_float { random.int() % 16 } else { random.int() << (32 - small.bits) >> (32 - small.bits) }
            })
            .collect();
        let program = setup.context.build_module(&assemble_module(&spell_module(small), (1, 3)));
        let combinations = small.operations.len() * KINDS.len() * SCOPES.len();
        let rows = run_program(&setup, &program, &numbers, combinations + 3);
        let values: Vec<i64> = numbers.iter().map(|&number| number.into()).collect();
        let sub_groups = &rows[combinations + 2];
        assert!(sub_groups[..GROUP].is_sorted() && sub_groups[0] == 0, "{sub_groups:?}");
        let of_sub_groups = |items: &std::ops::Range<usize>| -> Vec<std::ops::Range<usize>> {
            let chunks = sub_groups[items.clone()].chunk_by(|left, right| left == right);
            let mut begin = items.start;
            chunks
                .map(|chunk| {
                    begin += chunk.len();
                    begin - chunk.len()..begin
                })
                .collect()
        };
        for group in [0..GROUP, GROUP..ITEMS] {
            let parts = [vec![group.clone()], of_sub_groups(&group)];
            let mut row = rows.iter();
            for operation in small.operations {
                for (kind, parts) in KINDS.iter().flat_map(|kind| parts.iter().map(move |parts| (kind, parts))) {
                    let found = row.next().expect("a row");
                    for part in parts {
                        check_group(small, operation, kind, &values[part.clone()], &found[part.clone()]);
                    }
                }
            }
            assert!(rows[combinations][group.clone()].iter().all(|&found| found == values[group.start + 5]));
            for part in &parts[1] {
                assert!(rows[combinations + 1][part.clone()].iter().all(|&found| found == values[part.start + 3]));
            }
        }
    }
}
