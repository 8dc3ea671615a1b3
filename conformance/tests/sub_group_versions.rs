//! Sub-groups in programs of every version of OpenCL C: macros, pragmas and functions.

use lockstep_conformance::loader::{has_extension, is_lockstep};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Setup, arguments, read, run};

const VERSIONS: [&str; 6] = ["", "-cl-std=CL1.0", "-cl-std=CL1.1", "-cl-std=CL1.2", "-cl-std=CL2.0", "-cl-std=CL3.0"];

const EXTENSIONS: [&str; 9] = [
    "cl_khr_subgroups",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_clustered_reduce",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
];

/// Whether all of them are there; here they have to be.
fn there_are() -> bool {
    let there = EXTENSIONS.iter().all(|name| has_extension(name));
    assert!(there || !is_lockstep(), "sub-groups are there");
    there
}

#[test]
fn macros_and_pragmas_are_there() {
    if !there_are() {
        return;
    }
    let setup = Setup::new();
    let checks: String = EXTENSIONS
        .iter()
        .map(|name| format!("#ifndef {name}\n#error {name}\n#endif\n#pragma OPENCL EXTENSION {name} : enable\n"))
        .collect();
    let source = format!("{checks}kernel void f(global uint *p) {{ p[0] = get_sub_group_size(); }}");
    for version in VERSIONS.into_iter().filter(|_| is_lockstep()) {
        let program = setup.context.source(&source);
        assert_eq!(
            (program.build(&format!("{version} -Werror")), program.log()),
            (CL_SUCCESS, String::new()),
            "{version}"
        );
    }
    // What is not there is not said to be; this driver has none of these.
    for name in ["cl_intel_media_block_io", "cl_intel_subgroup_buffer_prefetch", "cl_khr_subgroup_named_barrier"] {
        let source = format!(
            "#ifdef {name}\n#error {name} is defined\n#endif\n#pragma OPENCL EXTENSION {name} : enable\n
             kernel void f(void) {{ }}"
        );
        for version in VERSIONS.into_iter().filter(|_| is_lockstep()) {
            let program = setup.context.source(&source);
            assert_eq!(program.build(version), CL_SUCCESS, "{version}: {}", program.log());
            assert!(program.log().contains(name), "an extension that is not there is warned of: {}", program.log());
        }
    }
}

/// Each function gives the same in every version; the first line tells the sub-groups.
const SOURCE: &str = "
    kernel void all(global const int *in, global long *out) {
        size_t g = get_global_id(0);
        int v = in[g];
        uint id = get_sub_group_local_id(), size = get_sub_group_size();
        out += g * RESULTS;
        *out++ = get_sub_group_id();
        *out++ = id;
        *out++ = size;
        *out++ = get_max_sub_group_size();
        *out++ = get_num_sub_groups();
        *out++ = get_enqueued_num_sub_groups();
        *out++ = sub_group_all(v > 2);
        *out++ = sub_group_any(v > 2);
        *out++ = sub_group_broadcast(v, 0);
        *out++ = sub_group_reduce_add(v);
        *out++ = sub_group_reduce_min((long)v);
        *out++ = (long)sub_group_reduce_max((float)v);
        *out++ = sub_group_scan_inclusive_add((uint)v);
        *out++ = sub_group_scan_exclusive_max(v);
        *out++ = (long)sub_group_broadcast((short4)v, 0).y;
        *out++ = (long)sub_group_scan_inclusive_min((double)v);
        *out++ = sub_group_elect();
        *out++ = sub_group_non_uniform_all_equal(v);
        *out++ = sub_group_ballot(v > 2).x;
        *out++ = sub_group_ballot_bit_count(sub_group_ballot(v & 1));
        *out++ = sub_group_inverse_ballot(get_sub_group_ge_mask());
        *out++ = sub_group_broadcast_first((uchar)v);
        *out++ = sub_group_non_uniform_reduce_mul(v & 1 ? 2 : 1);
        *out++ = sub_group_non_uniform_scan_inclusive_xor((ulong)v);
        *out++ = sub_group_non_uniform_reduce_logical_or(v);
        *out++ = sub_group_clustered_reduce_add(v, 4);
        *out++ = sub_group_shuffle(v, 1);
        *out++ = sub_group_shuffle_xor((ushort)v, 1);
        *out++ = id < 2 ? -1 : sub_group_shuffle_up(v, 2);
        *out++ = sub_group_rotate((char)v, 1);
        *out++ = sub_group_clustered_rotate(v, 1, 4);
        local int shown[64];
        shown[get_local_id(0)] = v;
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        *out++ = shown[get_local_id(0) - id];
    }";
const RESULTS: usize = 32;

#[test]
fn functions_give_the_same_in_every_version() {
    if !there_are() {
        return;
    }
    let setup = Setup::new();
    let input: Vec<i32> = (0..128).map(|i| i * 7 % 11).collect();
    let data = setup.context.with_values(&input);
    let results = |version: &str| {
        let options = format!("{version} -DRESULTS={RESULTS}");
        let kernel = setup.context.build(SOURCE, &options).kernel("all");
        let out = setup.context.zeros::<i64>(input.len() * RESULTS);
        kernel.set_all(arguments![&data, &out]);
        run(&setup.queue, &kernel, &[128], &[64]);
        read::<i64>(&setup.queue, &out)
    };
    let expected = results("-cl-std=CL3.0");
    // Where the host knows the answer; the other tests of sub-groups compare all of them.
    for (item, own) in expected.chunks(RESULTS).enumerate() {
        let (size, most) = (own[2] as usize, own[3] as usize);
        let first = item / 64 * 64 + own[0] as usize * most;
        let members = &input[first..first + size];
        assert_eq!(own[9], members.iter().map(|v| i64::from(*v)).sum::<i64>(), "item {item}");
        assert_eq!(own[31], i64::from(members[0]), "item {item}");
    }
    for version in VERSIONS.into_iter().filter(|_| is_lockstep()) {
        assert_eq!(results(version), expected, "{version}");
    }
}
