//! Sums that do not wrap in the work-items that use them, computed before the condition that says which those are. In
//! the first lanes of a gang, lane 0 among them, they do wrap: other lanes' values do not follow from lane 0's.

use crate::machine;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_ir::ir::parse_module;
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Gangs, WIDTHS};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;

/// The work-items; those up to the `IDLE`th, in the middle of a gang of any width, do not use the sum.
const WORK_ITEMS: u64 = 256;
const IDLE: i32 = 131;

/// A kernel in which each work-item computes by `before` and, from the `IDLE`th on, by `guarded` v8, an i64, which it
/// stores. v4 is its id, v1 is `c`, v2 is `IDLE`.
fn kernel_text(before: &str, guarded: &str) -> String {
    format!(
        "kernel \"k\" {{
          args 16
          param \"out\" pointer.global \"long*\" size 8 align 8 offset 0
          param \"c\" value \"int\" size 4 align 4 offset 8
          param \"d\" value \"int\" size 4 align 4 offset 12
          input value(0, 0): ptr.global
          input value(1, 0): i32
          input value(2, 0): i32
          region r0 {{
          b0(v0: ptr.global, v1: i32, v2: i32):
            v3: i64 = query.global_id 0
            v4: i32 = trunc v3
            {before}
            v7: i1 = icmp.uge v4, v2
            br v7, b1, b2
          b1:
            {guarded}
            v9: i64 = shl v3, 3
            v10: ptr.global = ptradd v0, v9
            store v8 to v10 align 8
            jump b2
          b2:
            return
          }}
        }}"
    )
}

/// What the kernel stores for each id is `expected` of it, where it stores; also where the rows of tiles are gangs' lanes.
fn check_kernel(name: &str, before: &str, guarded: &str, c: i32, expected: impl Fn(i64) -> i64) {
    let module = parse_module(&kernel_text(before, guarded)).unwrap();
    let rows = (Layout::X, NdRange::new(&[WORK_ITEMS], &[WORK_ITEMS]));
    let tiles = (Layout::Tile, NdRange::new(&[WORK_ITEMS, 4], &[8, 4]));
    let arguments = [Arg::Buffer(0), Arg::Value(c.to_le_bytes().to_vec()), Arg::Value(IDLE.to_le_bytes().to_vec())];
    let zeros = || Memory::new(vec![vec![0; 8 * WORK_ITEMS as usize]]);
    let stored = |id: i64| if id < IDLE.into() { 0 } else { expected(id) };
    let expected_bytes: Vec<u8> = (0..WORK_ITEMS as i64).flat_map(|id| stored(id).to_le_bytes()).collect();
    let mut interpreted = zeros();
    run_kernel(&module, "k", &rows.1, &arguments, &mut interpreted).unwrap();
    assert_eq!(interpreted.buffers[0], expected_bytes, "{name}, interpreted");
    for (layout, range) in [rows, tiles] {
        let launch = LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size);
        for width in WIDTHS {
            let gangs = Gangs { layout: Some(layout), ..Gangs::of_width(width) };
            let options = CompileOptions { vectorize: Vectorize::Gangs(gangs), launch, ..CompileOptions::default() };
            let mut found = zeros();
            let (_, reason) = machine::run_with(options, &module, "k", &range, &arguments, &mut found).unwrap();
            assert_eq!(reason, None, "{name} {width} {layout:?}");
            assert!(found.buffers[0] == expected_bytes, "{name} {width} {layout:?}: other results");
        }
    }
}

/// `c - id + d`
const SUMS: &str = "v5: i32 = sub.nsw v1, v4\n v6: i32 = add.nsw v5, v2\n";
/// `c - 4 id + 4 d`
const SUMS_OF_FOURS: &str =
    "v5: i32 = shl.nsw v4, 2\n v11: i32 = sub.nsw v1, v5\n v12: i32 = shl.nsw v2, 2\n v6: i32 = add.nsw v11, v12\n";

#[test]
fn sums_are_widened_where_lanes_use_them() {
    let expected = |id: i64| i64::from(i32::MAX) - id + i64::from(IDLE);
    let widen = "v8: i64 = sext v6";
    check_kernel("guarded", SUMS, widen, i32::MAX, expected);
    check_kernel("before", &format!("{SUMS} {widen}"), "", i32::MAX, expected);
    check_kernel("frozen", &format!("{SUMS} v13: i32 = freeze v6"), "v8: i64 = sext v13", i32::MAX, expected);
}

/// As unsigned numbers.
#[test]
fn unsigned_sums_are_widened_where_lanes_use_them() {
    let sums = SUMS.replace("nsw", "nuw");
    let expected = |id: i64| i64::from(u32::MAX) - id + i64::from(IDLE);
    let widen = "v8: i64 = zext v6";
    check_kernel("guarded", &sums, widen, -1, expected);
    check_kernel("before", &format!("{sums} {widen}"), "", -1, expected);
}

/// What is greater by `d` is greater in all lanes, but not where it wraps.
#[test]
fn sums_are_compared_where_lanes_use_them() {
    let compare = "v13: i1 = icmp.sgt v6, v5";
    let widen = "v8: i64 = zext v13";
    check_kernel("guarded", SUMS, &format!("{compare}\n {widen}"), i32::MAX, |_| 1);
    check_kernel("before", &format!("{SUMS} {compare}"), widen, i32::MAX, |_| 1);
}

#[test]
fn sums_are_divided_where_lanes_use_them() {
    let c = i32::MAX - 3;
    let expected = |id: i64| (i64::from(c) - 4 * (id - i64::from(IDLE))) / 4;
    let divide = "v13: i32 = ashr v6, 2";
    let widen = "v8: i64 = zext v13";
    check_kernel("guarded", SUMS_OF_FOURS, &format!("{divide}\n {widen}"), c, expected);
    check_kernel("before", &format!("{SUMS_OF_FOURS} {divide}"), widen, c, expected);
    let divide = "v13: i32 = sdiv v6, 4";
    check_kernel("by a number", SUMS_OF_FOURS, &format!("{divide}\n {widen}"), c - 3, |id| expected(id) - 1);
}

/// Of products, and of what was added to them; a sum of nine sums is computed from a lane that uses it.
#[test]
fn sums_of_products_are_widened_where_lanes_use_them() {
    let products = "v5: i32 = mul.nsw v2, -3\n v11: i32 = add.nsw v4, v5\n v12: i32 = mul.nsw v11, -1048576\n v6: i32 = add.nsw v12, v1";
    let expected = |id: i64| (id - 3 * i64::from(IDLE)) * -1_048_576 + i64::from(i32::MIN) / 2;
    let widen = "v8: i64 = sext v6";
    check_kernel("guarded", products, widen, i32::MIN / 2, expected);
    check_kernel("before", &format!("{products} {widen}"), "", i32::MIN / 2, expected);
    let mut many = SUMS.replace("v6", "v20");
    (20..28).for_each(|sum| many += &format!("v{}: i32 = add.nsw v{sum}, 1\n ", sum + 1));
    let expected = |id: i64| i64::from(i32::MAX) - id + i64::from(IDLE);
    check_kernel("many", &many, "v8: i64 = sext v28", i32::MAX - 8, expected);
}
