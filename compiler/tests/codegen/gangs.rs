//! Work-items in the lanes of vectors do what they do one after the other: every way to access memory, effects
//! in order, private arrays, values kept at barriers, and ends of rows that do not fill a gang.

use crate::machine;
use lockstep_compiler::pipeline::compile_kernel;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_ir::ir::{Module, parse_module};
use lockstep_ir::plan::Reason;
use lockstep_ir::testing::{Shape, random_kernel};
use lockstep_ir::verify::{Stage, verify_module};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Configuration, Gangs, Versions, WIDTHS};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;
use lockstep_protocol::pass_switches::PassSwitch;
use std::sync::atomic::{AtomicU32, Ordering};

/// A few seeds, or those in `LOCKSTEP_TEST_SEEDS` (`from..to`).
fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("LOCKSTEP_TEST_SEEDS").ok();
    let range = given.as_deref().and_then(|text| text.split_once(".."));
    match range.map(|(from, to)| (from.parse(), to.parse())) {
        Some((Ok(from), Ok(to))) => from..to,
        _ => 0..36,
    }
}

/// The beginning of a kernel with parameters that are pointers to global memory.
pub fn head(count: usize) -> String {
    let mut text = format!("kernel \"k\" {{\n args {}\n", 8 * count);
    for index in 0..count {
        text += &format!(" param \"p{index}\" pointer.global \"t*\" size 8 align 8 offset {}\n", 8 * index);
    }
    (0..count).for_each(|index| text += &format!(" input value({index}, 0): ptr.global\n"));
    text
}

/// What code may rely on when it runs over a range.
fn facts(range: &NdRange) -> LaunchFacts {
    LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size)
}

/// Runs a kernel at every width, for any launch, with and without code for full gangs alone, and for this one, and compares with the interpreter: memory and the
/// calls of printf in each gang. All regions must run in gangs.
pub fn compare(text: &str, range: NdRange, buffers: &[Vec<u8>]) {
    compare_at(&WIDTHS, text, range, buffers);
}

/// As [`compare`], at these widths.
pub fn compare_at(widths: &[u32], text: &str, range: NdRange, buffers: &[Vec<u8>]) {
    let module = parse_module(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify_module(&module, Stage::Imported).unwrap_or_else(|e| panic!("{}\n{text}", e[0]));
    let arguments: Vec<Arg> = (0..buffers.len()).map(Arg::Buffer).collect();
    let mut expected = Memory::new(buffers.to_vec());
    let report =
        run_kernel(&module, "k", &range, &arguments, &mut expected).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let known = facts(&range);
    let any = LaunchFacts::default();
    let ways = [(any, Versions::Always), (any, Versions::Never), (known, Versions::Always)];
    for (&width, (launch, full_gangs)) in widths.iter().flat_map(|width| ways.map(|way| (width, way))) {
        let vectorize = Vectorize::Gangs(Gangs::of_width(width).with_pass(PassSwitch::FullGangs, full_gangs));
        let options = CompileOptions { vectorize, launch, ..CompileOptions::default() };
        let mut found = Memory::new(buffers.to_vec());
        let ran = machine::run_with(options, &module, "k", &range, &arguments, &mut found);
        let (found_report, reason) = ran.unwrap_or_else(|e| panic!("width {width}: {e}\n{text}"));
        assert_eq!(reason, None, "width {width}: {text}");
        assert!(found.buffers == expected.buffers, "width {width}, {full_gangs:?}: other results\n{text}");
        let plain = |events: &[lockstep_ir::interp::PrintfEvent]| {
            events.iter().map(|event| (event.format, event.args.clone())).collect::<Vec<_>>()
        };
        assert_eq!(plain(&found_report.printf), plain(&report.printf), "width {width}");
    }
}

/// Bytes that all differ from their neighbours.
pub fn noise(length: usize) -> Vec<u8> {
    (0..length as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

const TYPES: [(&str, usize); 9] =
    [("i1", 1), ("i8", 1), ("i13", 2), ("i16", 2), ("i32", 4), ("i64", 8), ("f16", 2), ("f32", 4), ("f64", 8)];

/// Moves `count` elements per work-item from one buffer to another, which lie `stride` elements apart.
fn move_elements(ty: &str, bytes: usize, count: usize, stride: i64, store_stride: i64) {
    let items = 43;
    let mut text = head(2) + " region r0 {\n b0(v0: ptr.global, v1: ptr.global):\n v2: i64 = query.global_id 0\n";
    let size = bytes as i64;
    // Where strides are negative the last work-item has the lowest address.
    let start = |stride: i64| if stride < 0 { -stride * (items - 1) * size } else { 0 };
    text += &format!(" v3: i64 = mul v2, {}\n v4: ptr.global = ptradd v0, v3\n", stride * size);
    text += &format!(" v5: i64 = mul v2, {}\n v6: ptr.global = ptradd v1, v5\n", store_stride * size);
    let values: Vec<String> = (0..count).map(|index| format!("v{}", 7 + index)).collect();
    let typed: Vec<String> = values.iter().map(|v| format!("{v}: {ty}")).collect();
    text += &format!(" {} = load v4 + {} align {bytes}\n", typed.join(", "), start(stride));
    text += &format!(" store {} to v6 + {} align {bytes}\n return\n }}\n}}\n", values.join(", "), start(store_stride));
    let length = |stride: i64| ((items - 1) * stride.abs() + count as i64) as usize * bytes;
    let mut source = noise(length(stride));
    if matches!(ty, "i1" | "i13") {
        // In memory the bits above the type's are zero.
        let keep: &[u8] = if bytes == 1 { &[1] } else { &[0xff, 0x1f] };
        source.iter_mut().zip(keep.iter().cycle()).for_each(|(byte, keep)| *byte &= keep);
    }
    compare_at(&[4, 16], &text, NdRange::new(&[items as u64], &[21]), &[source, vec![0; length(store_stride)]]);
}

#[test]
fn consecutive_elements_of_every_type() {
    for (ty, bytes) in TYPES {
        move_elements(ty, bytes, 1, 1, 1);
        move_elements(ty, bytes, 1, -1, 1);
        move_elements(ty, bytes, 1, 1, -1);
    }
}

/// LLVM stores as many bytes as the wider type has where one lane is on and stores what is left of a wider integer
/// (`machine_code/single_lane_stores.rs`).
#[test]
fn parts_of_integers_in_the_only_lane() {
    for (from, bytes) in [("i64", 8), ("i32", 4), ("i16", 2)] {
        for (to, kept) in [("i8", 1), ("i16", 2), ("i32", 4)].into_iter().filter(|&(_, kept)| kept < bytes) {
            let text = head(2)
                + &format!(
                    " region r0 {{
 b0(v0: ptr.global, v1: ptr.global):
   v2: i64 = query.global_id 0
   v3: i64 = mul v2, {bytes}
   v4: ptr.global = ptradd v0, v3
   v5: {from} = load v4 align {bytes}
   v6: {from} = mul v5, v5
   v7: {from} = lshr v6, 5
   store v7 to v4 align {bytes}
   v8: {to} = trunc v7
   v9: i64 = mul v2, {kept}
   v10: ptr.global = ptradd v1, v9
   store v8 to v10 align {kept}
   return
 }}
}}
"
                );
            for items in [1, 5, 17, 33] {
                let buffers = [noise(items * bytes), vec![0; items * kept]];
                compare(&text, NdRange::new(&[items as u64], &[items as u64]), &buffers);
            }
        }
    }
}

#[test]
fn rows_of_elements() {
    for (ty, bytes) in [("i8", 1), ("f32", 4), ("i64", 8)] {
        for (count, stride) in [(2, 2), (3, 3), (3, 4), (8, 8), (16, 16)] {
            move_elements(ty, bytes, count, stride, stride);
            move_elements(ty, bytes, count, -stride, stride);
        }
    }
}

#[test]
fn elements_with_gaps_between_them() {
    for (ty, bytes) in [("i8", 1), ("i32", 4), ("f64", 8)] {
        for stride in [2, 3, 4, 8, -2, -7, 100] {
            move_elements(ty, bytes, 1, stride, 1);
            move_elements(ty, bytes, 1, 1, stride);
        }
    }
}

#[test]
fn elements_anywhere() {
    // Squares of ids: no constant distance.
    let text = head(2)
        + " region r0 {
 b0(v0: ptr.global, v1: ptr.global):
   v2: i64 = query.global_id 0
   v3: i64 = mul v2, v2
   v4: i64 = shl v3, 3
   v5: ptr.global = ptradd v0, v4
   v6: ptr.global = ptradd v1, v4
   v7: i32, v8: i32 = load v5 align 4
   v9: i32 = add v7, v8
   store v9, v7 to v6 align 4
   return
 }
}
";
    compare(&text, NdRange::new(&[43], &[21]), &[noise(43 * 43 * 8), vec![0; 43 * 43 * 8]]);
}

#[test]
fn one_address_for_all() {
    let text = head(2)
        + " region r0 {
 b0(v0: ptr.global, v1: ptr.global):
   v2: i64 = query.local_id 1
   v3: i64 = shl v2, 2
   v4: ptr.global = ptradd v0, v3
   v5: i32 = load v4 align 4
   v6: i64 = query.global_id 1
   v7: i64 = shl v6, 2
   v8: ptr.global = ptradd v1, v7
   store v5 to v8 align 4
   return
 }
}
";
    compare(&text, NdRange::new(&[21, 6], &[21, 3]), &[noise(12), vec![0; 24]]);
}

/// Of several work-items that write to one place the last one's value stays, as when they run in order.
#[test]
fn the_last_work_item_writes() {
    let text = head(1)
        + " region r0 {
 b0(v0: ptr.global):
   v1: i64 = query.global_id 0
   v2: i32 = trunc v1
   v3: i32 = mul v2, v2
   store v3 to v0 align 4
   return
 }
}
";
    for items in [1, 3, 16, 21] {
        compare(&text, NdRange::new(&[items], &[items]), &[vec![0; 4]]);
    }
}

#[test]
fn atomics_calls_and_printf_in_order() {
    let text = "format fmt0 \"%d %f\\n\" (i32, f64)\n".to_string()
        + &head(2)
        + " region r0 {
 b0(v0: ptr.global, v1: ptr.global):
   v2: i64 = query.global_id 0
   v3: i64 = shl v2, 2
   v4: ptr.global = ptradd v1, v3
   v5: i32 = trunc v2
   v6: i32 = atomic_rmw.add.relaxed v0, v5 align 4
   store v6 to v4 align 4
   v7: f64 = sitofp v6
   v8: f64 = call_host \"log1p\"(v7)
   v9: i32 = printf fmt0(v5, v8)
   v10: i32, v11: i1 = atomic_cas.relaxed.relaxed v4, v6, v5 align 4
   return
 }
}
";
    compare(&text, NdRange::new(&[21], &[21]), &[vec![1, 0, 0, 0], vec![0; 84]]);
}

/// A private array per work-item, filled and read in another order, by copies too.
#[test]
fn private_arrays() {
    let text = head(2)
        + " slot ss0 size 32 align 8
 slot ss1 size 32 align 8
 region r0 {
 b0(v0: ptr.global, v1: ptr.global):
   v2: i64 = query.global_id 0
   v3: i64 = shl v2, 5
   v4: ptr.global = ptradd v0, v3
   v5: ptr.private = slot_addr ss0
   memcpy v5, v4, 32
   v6: i64 = and v2, 3
   v7: i64 = shl v6, 3
   v8: ptr.private = ptradd v5, v7
   v9: i64 = load v8 align 8
   v10: i64 = add v9, v2
   store v10 to v8 align 8
   v11: ptr.private = slot_addr ss1
   memcpy v11, v5, 32
   store v9 to v11 + 24 align 8
   v12: i64, v13: i64, v14: i64, v15: i64 = load v11 align 8
   v16: ptr.global = ptradd v1, v3
   store v15, v14, v13, v12 to v16 align 8
   return
 }
}
";
    compare(&text, NdRange::new(&[43], &[21]), &[noise(43 * 32), vec![0; 43 * 32]]);
}

/// A private array that lives across a barrier, whose rows of work-items do not fill gangs: each gang has room
/// for all its lanes, also at the end of the last row.
#[test]
fn private_arrays_across_barriers() {
    let text = head(2)
        + " slot ss0 size 12 align 4
 slot ss1 size 8 align 8
 region r0 {
 b0(v0: ptr.global, v1: ptr.global):
   v2: i64 = query.global_id 0
   v3: i64 = query.global_id 1
   v4: i64 = query.global_size 0
   v5: i64 = mul v3, v4
   v6: i64 = add v5, v2
   v7: i64 = mul v6, 12
   v8: ptr.global = ptradd v0, v7
   v9: i32, v10: i32, v11: i32 = load v8 align 4
   v12: ptr.private = slot_addr ss0
   v13: ptr.private = slot_addr ss1
   store v9, v10, v11 to v12 align 4
   store v6 to v13 align 8
   barrier
   v14: i64 = urem v6, 3
   v15: i64 = shl v14, 2
   v16: ptr.private = ptradd v12, v15
   v17: i32 = load v16 align 4
   v18: i32 = mul v17, 3
   store v18 to v16 align 4
   barrier
   v19: i32, v20: i32 = load v12 align 4
   v21: i32 = load v12 + 8 align 4
   v22: i64 = load v13 align 8
   v23: i32 = trunc v22
   v24: i32 = xor v21, v23
   v25: ptr.global = ptradd v1, v7
   store v24, v20, v19 to v25 align 4
   return
 }
}
";
    for (global, local) in [([13, 6], [13, 3]), ([16, 2], [16, 2]), ([10, 3], [5, 3]), ([7, 5], [4, 2])] {
        let items = (global[0] * global[1]) as usize;
        compare(&text, NdRange::new(&global, &local), &[noise(items * 12), vec![0; items * 12]]);
    }
}

/// What all lanes access at one index of their private arrays lies in rows, so that a loop over the array
/// needs no gathers; small arrays are registers when LLVM has unrolled the loop.
#[test]
fn private_rows_are_vectors() {
    let text = head(2)
        + " slot ss0 size 32 align 4
 region r0 {
 b0(v0: ptr.global, v1: ptr.global):
   v2: i64 = query.global_id 0
   v3: i64 = shl v2, 2
   v4: ptr.global = ptradd v0, v3
   v5: i32 = load v4 align 4
   v6: ptr.private = slot_addr ss0
   jump b1(0:i64, v5)
 b1(v7: i64, v8: i32):
   v9: i64 = shl v7, 2
   v10: ptr.private = ptradd v6, v9
   store v8 to v10 align 4
   v11: i32 = mul v8, v8
   v12: i64 = add v7, 1
   v13: i1 = icmp.ult v12, 8:i64
   br v13, b1(v12, v11), b2(0:i64, 0:i32)
 b2(v14: i64, v15: i32):
   v16: i64 = sub 28:i64, v14
   v17: ptr.private = ptradd v6, v16
   v18: i32 = load v17 align 4
   v19: i32 = mul v15, 3
   v20: i32 = add v19, v18
   v21: i64 = add v14, 4
   v22: i1 = icmp.ult v21, 32:i64
   br v22, b2(v21, v20), b3
 b3:
   v23: ptr.global = ptradd v1, v3
   store v20 to v23 align 4
   return
 }
}
";
    compare(&text, NdRange::new(&[43], &[43]), &[noise(43 * 4), vec![0; 43 * 4]]);
    let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let [llvm] = stages(&module, 8, ["optimize.ll"]);
    for part in ["gather", "scatter"] {
        assert!(!llvm.contains(part), "{part}:\n{llvm}");
    }
    // Rows of whole gangs are registers. With AVX, LLVM knows nothing of loads of some lanes, so that those of a tail stay.
    let whole = |line: &str| line.contains("%slot") && (line.contains("load <") || line.contains("store <"));
    assert!(!llvm.lines().any(whole), "{llvm}");
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512f") {
        assert!(!llvm.contains("alloca"), "{llvm}");
    }
}

/// Loops and branches that all work-items take alike, with values of every form around them.
#[test]
fn uniform_control_flow() {
    let text = head(2)
        + " region r0 {
 b0(v0: ptr.global, v1: ptr.global):
   v2: i64 = query.global_id 0
   v3: i64 = shl v2, 2
   v4: ptr.global = ptradd v0, v3
   v5: i32 = load v4 align 4
   v6: i64 = query.group_id 0
   jump b1(0:i64, v5, v2, v4)
 b1(v7: i64, v8: i32, v9: i64, v10: ptr.global):
   v11: i1 = icmp.ult v7, v6
   br v11, b2, b5
 b2:
   v12: i64 = and v7, 1
   v13: i1 = icmp.eq v12, 0:i64
   br v13, b3, b4(v8)
 b3:
   v14: i32 = load v10 align 4
   v15: i32 = mul v14, 3
   v16: i32 = xor v15, v8
   jump b4(v16)
 b4(v17: i32):
   v18: i64 = add v7, 1
   v19: i64 = add v9, 2
   v20: ptr.global = ptradd v10, 4
   jump b1(v18, v17, v19, v20)
 b5:
   v21: i32 = trunc v9
   v22: i32 = add v8, v21
   v23: ptr.global = ptradd v1, v3
   store v22 to v23 align 4
   return
 }
}
";
    compare(&text, NdRange::new(&[13 * 9], &[13]), &[noise((13 * 9 + 16) * 4), vec![0; 13 * 9 * 4]]);
}

/// `(x - 4)` as a long, and its sign, where lanes below four do not come and would wrap; `x` counts up from the least
/// int.
#[test]
fn lanes_that_wrap_where_they_do_not_come() {
    let text = head(2)
        + " region r0 {
 b0(v0: ptr.global, v1: ptr.global):
   v2: i64 = query.local_id 0
   v3: i32 = trunc v2
   v4: i32 = load v0 align 4
   v5: i32 = add.nsw v4, v3
   v6: i32 = load v0 + 4 align 4
   v7: i1 = icmp.sge v3, v6
   br v7, b1, b2
 b1:
   v8: i32 = add.nsw v5, -4
   v9: i64 = sext v8
   v10: i32 = ashr v8, 1
   v11: i64 = sub v9, -2147483648
   v12: i64 = shl v11, 4
   v13: ptr.global = ptradd v1, v12
   store v9 to v13 align 8
   v14: i64 = sext v10
   store v14 to v13 + 8 align 8
   jump b2
 b2:
   return
 }
}
";
    for least in [4, 5, 15] {
        let input = [i32::MIN, least].into_iter().flat_map(i32::to_le_bytes).collect();
        compare(&text, NdRange::new(&[37], &[37]), &[input, vec![0; 37 * 16]]);
    }
}

/// Random kernels in every configuration, width and layout.
#[test]
fn random_kernels() {
    for seed in seeds() {
        let g = random_kernel(seed, Shape { depth: 1 + seed as usize % 4, ..Shape::default() });
        let mut expected = Memory::new(g.buffers.clone());
        run_kernel(&g.module, "random", &g.range, &g.args, &mut expected)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let width = WIDTHS[seed as usize % WIDTHS.len()];
        let layout = Some(Layout::ALL[seed as usize / 5 % Layout::ALL.len()]);
        for configuration in Configuration::ALL {
            let full_gangs = if seed % 5 < 2 { Versions::Never } else { Versions::Always };
            let gangs =
                Gangs { configuration, layout, ..Gangs::of_width(width) }.with_pass(PassSwitch::FullGangs, full_gangs);
            let vectorize = Vectorize::Gangs(gangs);
            let launch = match seed / 4 % 3 {
                0 => LaunchFacts::default(),
                1 => facts(&g.range).of_any_size(),
                _ => facts(&g.range),
            };
            let opt_disable = seed % 8 != 0;
            let simd = [None, Some(256), Some(128)][seed as usize / 2 % 3];
            let options = CompileOptions { vectorize, launch, opt_disable, simd, ..CompileOptions::default() };
            let mut found = Memory::new(g.buffers.clone());
            let what = format!("seed {seed}, width {width}, {layout:?}, {}, {simd:?} bits", configuration.name());
            let ran = machine::run_with(options, &g.module, "random", &g.range, &g.args, &mut found);
            let (_, reason) = ran.unwrap_or_else(|e| panic!("{what}: {e}\n{}", g.module));
            // Without optimisation every value of wide gangs lies on the stack.
            assert!(reason.is_none() || reason == Some(Reason::StackFrame) && opt_disable, "{what}: {reason:?}");
            assert!(found.buffers == expected.buffers, "{what}: other results\n{:?}\n{}", g.range, g.module);
        }
    }
}

/// Gangs use the registers they are allowed, however wide those of the machine are.
#[test]
#[cfg(target_arch = "x86_64")]
fn registers_of_every_width() {
    let text = head(1)
        + " region r0 {
 b0(v0: ptr.global):
   v1: i64 = query.global_id 0
   v2: i64 = shl v1, 2
   v3: ptr.global = ptradd v0, v2
   v4: f32 = load v3 align 4
   v5: f32 = fadd v4, v4
   store v5 to v3 align 4
   return
 }
}
";
    let module = parse_module(&text).unwrap();
    for (bits, registers, wider) in [(128, "xmm", "ymm"), (256, "ymm", "zmm")] {
        let folder = std::env::temp_dir().join(format!("lockstep-registers-{}-{bits}", std::process::id()));
        let vectorize = Vectorize::Gangs(Gangs::default());
        let dump = Some(folder.clone());
        let options = CompileOptions { vectorize, simd: Some(bits), dump, ..CompileOptions::default() };
        let reason = compile_kernel(&module, 0, &options).unwrap().reason();
        let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let path = files.into_iter().find(|path| path.to_string_lossy().ends_with("optimize.s")).unwrap();
        let assembly = std::fs::read_to_string(path).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(reason, None);
        assert!(!assembly.contains(wider), "{bits}: {assembly}");
        // A machine may have no more than 128 bits.
        let most = if std::arch::is_x86_feature_detected!("avx2") { registers } else { "xmm" };
        assert!(assembly.lines().any(|line| line.contains("addps") && line.contains(most)), "{bits}: {assembly}");
    }
}

/// A kernel of so many loops in each other, which lanes leave one by one. The outermost loads again what was loaded in front of it.
fn nested_loops(depth: usize) -> Module {
    let mut text = head(1)
        + " region r0 {
 b0(v0: ptr.global):
   v1: i64 = query.global_id 0
   v2: i64 = shl v1, 2
   v3: ptr.global = ptradd v0, v2
   v4: i32 = load v3 align 4
   jump b1
";
    let again = format!("v{}", 5 + depth);
    text += &format!(" b1:\n   {again}: i32 = load v3 align 4\n   jump b2\n");
    (2..=depth).for_each(|header| text += &format!(" b{header}:\n   jump b{}\n", header + 1));
    for header in (1..=depth).rev() {
        let latch = 2 * depth + 1 - header;
        let condition = format!("v{}", 4 + header);
        text += &format!(" b{latch}:\n   {condition}: i1 = icmp.eq v4, {header}:i32\n");
        text += &format!("   br {condition}, b{header}, b{}\n", latch + 1);
    }
    text += &format!(" b{}:\n   store {again} to v3 align 4\n   return\n }}\n}}\n", 2 * depth + 1);
    parse_module(&text).unwrap()
}

#[test]
fn loops_deep_in_each_other_run_item_by_item() {
    let options = CompileOptions { vectorize: Vectorize::Gangs(Gangs::of_width(4)), ..CompileOptions::default() };
    for (depth, reason) in [(32, None), (33, Some(Reason::LoopDepth(33)))] {
        assert_eq!(compile_kernel(&nested_loops(depth), 0, &options).unwrap().reason(), reason);
    }
}

/// The normal form that replacing loads needs grows with the square of the depth.
#[test]
fn loads_in_loops_deep_in_each_other_are_not_looked_at() {
    let options = CompileOptions { vectorize: Vectorize::Scalar, report: true, ..CompileOptions::default() };
    for (depth, is_looked_at) in [(32, true), (33, false)] {
        let report = compile_kernel(&nested_loops(depth), 0, &options).unwrap().report.unwrap().to_string();
        assert_eq!(report.contains("reuse"), is_looked_at, "{depth}: {report}");
    }
}

/// What the stages of compiling a kernel in gangs leave, by the ends of the files' names.
pub fn stages<const N: usize>(module: &Module, width: u32, stages: [&str; N]) -> [String; N] {
    let vectorize = Vectorize::Gangs(Gangs::of_width(width));
    stages_with(module, CompileOptions { vectorize, ..CompileOptions::default() }, stages)
}

/// The same of code that is compiled in another way.
pub fn stages_with<const N: usize>(module: &Module, options: CompileOptions, stages: [&str; N]) -> [String; N] {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("lockstep-stages-{}-{number}", std::process::id()));
    let options = CompileOptions { dump: Some(folder.clone()), ..options };
    let compiled = compile_kernel(module, 0, &options);
    let found = stages.map(|stage| {
        let mut files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let path = files.find(|path| path.to_string_lossy().ends_with(stage)).unwrap();
        std::fs::read_to_string(path).unwrap()
    });
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(compiled.unwrap().reason(), None);
    found
}

/// What is consecutive is one access of a register's width, and a product and a sum are one operation.
#[test]
fn saxpy_is_wide() {
    let mut text = "kernel \"saxpy\" {\n args 20\n".to_string();
    for i in 0..2 {
        text += &format!(" param \"p{i}\" pointer.global \"float*\" size 8 align 8 offset {}\n", 8 * i);
    }
    text += " param \"a\" value \"float\" size 4 align 4 offset 16\n";
    text += " input value(0, 0): ptr.global\n input value(1, 0): ptr.global\n input value(2, 0): f32
 region r0 {
 b0(v0: ptr.global, v1: ptr.global, v2: f32):
   v3: i64 = query.global_id 0
   v4: i64 = shl v3, 2
   v5: ptr.global = ptradd v0, v4
   v6: f32 = load v5 align 4
   v7: ptr.global = ptradd v1, v4
   v8: f32 = load v7 align 4
   v9: f32 = fmuladd v2, v6, v8
   store v9 to v7 align 4
   return
 }
}
";
    let module = parse_module(&text).unwrap();
    let [llvm, assembly] = stages(&module, 16, ["optimize.ll", "optimize.s"]);
    for part in ["load <16 x float>", "store <16 x float>", "@llvm.fmuladd.v16f32"] {
        assert!(llvm.contains(part), "{part}:\n{llvm}");
    }
    let masked = ["@llvm.masked.load.v16f32", "@llvm.x86.avx.maskload.ps.256"];
    assert!(masked.iter().any(|load| llvm.contains(load)), "{llvm}");
    assert!(!llvm.contains("gather") && !llvm.contains("scatter"), "{llvm}");
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512f") {
        assert!(assembly.lines().any(|line| line.contains("vfmadd") && line.contains("zmm")), "{assembly}");
    }
}

/// More vectors than there are registers lie on the stack, each on a line of the cache.
#[test]
#[cfg(target_arch = "x86_64")]
fn vectors_on_the_stack_are_aligned() {
    const VECTORS: usize = 48;
    let mut text = head(2) + " region r0 {\n b0(v0: ptr.global, v1: ptr.global):\n   v2: i64 = query.global_id 0\n";
    text += "   v3: i64 = shl v2, 2\n   v4: ptr.global = ptradd v0, v3\n   v5: ptr.global = ptradd v1, v3\n";
    // All are loaded before the first store, and used behind it.
    let first = 6;
    for number in 0..VECTORS {
        text += &format!("   v{}: f32 = load v4 + {} align 4\n", first + number, 4 * number);
    }
    text += &format!("   store v{first} to v5 align 4\n");
    let mut sum = first;
    for number in 1..VECTORS {
        let next = first + VECTORS + number;
        text += &format!("   v{next}: f32 = fmul v{sum}, v{}\n", first + VECTORS - number);
        text += &format!("   store v{next} to v5 + {} align 4\n", 4 * number);
        sum = next;
    }
    let module = parse_module(&(text + "   return\n }\n}\n")).unwrap();
    if !std::arch::is_x86_feature_detected!("avx") {
        return;
    }
    let [assembly] = stages(&module, 16, ["optimize.s"]);
    let alignment = if std::arch::is_x86_feature_detected!("avx512f") { 64 } else { 32 };
    let caller = assembly.lines().skip_while(|line| !line.starts_with("lockstep_kernel:"));
    let aligns = format!("andq\t$-{alignment}, %rsp");
    assert!(caller.take_while(|line| !line.contains("call")).any(|line| line.contains(&aligns)), "{assembly}");
    let body: Vec<&str> = assembly.lines().skip_while(|line| !line.starts_with("lockstep_kernel.aligned:")).collect();
    let pushed = body.iter().take_while(|line| !line.contains("subq")).filter(|line| line.contains("pushq")).count();
    let frame: usize =
        body.iter().find_map(|line| line.trim().strip_prefix("subq\t$")?.strip_suffix(", %rsp")?.parse().ok()).unwrap();
    // The function that calls it has aligned the stack, and the call has put an address there.
    let below = (8 + 8 * pushed + frame) as i64;
    let mut kept = 0;
    for line in body.iter().filter_map(|line| line.trim().strip_suffix("(%rsp)")) {
        let bytes = if line.contains("%zmm") { 64 } else { 32 };
        let offset = line.rsplit([' ', '\t']).next().unwrap();
        if line.contains("%zmm") || line.contains("%ymm") {
            let offset: i64 = if offset.is_empty() { 0 } else { offset.parse().unwrap() };
            assert_eq!((offset - below).rem_euclid(bytes), 0, "{line}(%rsp), {below} bytes below:\n{assembly}");
            kept += 1;
        }
    }
    assert!(kept > VECTORS / 4, "{kept} vectors are kept on the stack:\n{assembly}");
}

/// Found by fuzzing: amounts that LLVM learns to be zero when it selects instructions.
#[test]
fn funnel_shifts_by_nothing() {
    let text = head(2)
        + " region r0 {
 b0(v0: ptr.global, v1: ptr.global):
   v2: i64 = query.global_id 0
   v3: i64 = shl v2, 3
   v4: ptr.global = ptradd v0, v3
   store 0.0:f32 to v4 align 4
   v5: i32 = load v4 align 4
   v6: i32 = load v1 align 4
   v7: i32 = fshr v6, v5, v5
   v8: i32 = fshl v5, v6, v5
   v9: i32 = add v7, v8
   store v9 to v4 + 4 align 4
   return
 }
}
";
    for items in [1, 5] {
        compare(&text, NdRange::new(&[items], &[1]), &[vec![1; 8 * items as usize], vec![7, 0, 0, 0]]);
    }
}

/// Where a work-item makes the launch fail, the interpreter and code of either kind say so, and nobody goes on behind a barrier.
#[test]
fn a_work_item_makes_the_launch_fail() {
    let text = "format fmt0 \"no room for %d\" (i32) failure\n".to_owned()
        + &head(1)
        + " region r0 {
 b0(v0: ptr.global):
   v1: i64 = query.global_id 0
   v2: i64 = shl v1, 2
   v3: ptr.global = ptradd v0, v2
   v4: i1 = icmp.eq v1, 5:i64
   br v4, b1, b2
 b1:
   v5: i32 = printf fmt0(7:i32)
   return
 b2:
   v6: ptr.global = ptradd v3, 40:i64
   store 1:i32 to v6 align 4
   barrier
   v7: i64 = sub 76:i64, v2
   v8: ptr.global = ptradd v0, v7
   v9: i32 = load v8 align 4
   store v9 to v3 align 4
   return
 }
}
";
    let module = parse_module(&text).unwrap();
    let range = NdRange::new(&[10], &[10]);
    let wanted = "the launch fails: no room for %d";
    let mut memory = Memory::new(vec![vec![0; 80]]);
    let interpreted = run_kernel(&module, "k", &range, &[Arg::Buffer(0)], &mut memory).unwrap_err();
    assert_eq!(interpreted.fault.to_string(), wanted);
    for vectorize in [Vectorize::Scalar, Vectorize::Gangs(Gangs::of_width(8))] {
        let options = CompileOptions { vectorize, ..CompileOptions::default() };
        let mut found = Memory::new(vec![vec![0; 80]]);
        let failure = machine::run_with(options, &module, "k", &range, &[Arg::Buffer(0)], &mut found).unwrap_err();
        assert_eq!(failure, wanted);
        assert_eq!(found.buffers[0][..40], [0; 40]);
    }
}

/// What no gang can do is said, and the kernel runs as ever.
#[test]
fn reasons() {
    let text = |align: u32| {
        head(1)
            + &format!(" slot ss0 size 8 align {align}\n")
            + " region r0 {
 b0(v0: ptr.global):
   v1: i64 = query.global_id 0
   v2: i64 = shl v1, 2
   v3: ptr.global = ptradd v0, v2
   v4: ptr.private = slot_addr ss0
   store v2 to v4 align 8
   v5: i32 = load v4 align 8
   store v5 to v3 align 4
   return
 }
}
"
    };
    for (width, align, expected) in [(3, 8, Some("3")), (128, 8, Some("128")), (8, 8192, Some("8192")), (8, 256, None)]
    {
        let module = parse_module(&text(align)).unwrap();
        let vectorize = Vectorize::Gangs(Gangs::of_width(width));
        let options = CompileOptions { vectorize, ..CompileOptions::default() };
        let mut found = Memory::new(vec![vec![0; 40]]);
        let range = NdRange::new(&[10], &[10]);
        let (_, reason) = machine::run_with(options, &module, "k", &range, &[Arg::Buffer(0)], &mut found).unwrap();
        let ids: Vec<u8> = (0..10u32).flat_map(|id| (4 * id).to_le_bytes()).collect();
        assert_eq!(found.buffers[0], ids);
        match (reason, expected) {
            (None, None) => {}
            (Some(reason), Some(expected)) => assert!(reason.to_string().contains(expected), "{reason}"),
            (reason, _) => panic!("width {width}, alignment {align}: {reason:?}"),
        }
    }
}
