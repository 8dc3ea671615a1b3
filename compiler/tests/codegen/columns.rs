//! Tiles whose columns are memory's rows: each column is one access and the tile is transposed in registers, which does
//! what the interpreter does.

use crate::layouts::{build, input, wrapping};
use crate::machine;
use lockstep_compiler::machine_code::host_target;
use lockstep_compiler::pipeline::compile_kernel;
use lockstep_ir::interp::{self, Arg, Memory, NdRange};
use lockstep_ir::ir::Module;
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;

/// Groups, of which the first ones are tiles whatever the registers.
const LOCALS: [[u64; 2]; 8] = [[4, 4], [8, 8], [8, 32], [16, 8], [16, 16], [32, 8], [32, 32], [16, 5]];

/// Bits of registers.
const SIMD: [u32; 3] = [128, 256, 512];

/// The options for a launch over groups of this size on registers of so many bits.
fn options(range: &NdRange, simd: u32) -> CompileOptions {
    CompileOptions {
        vectorize: Vectorize::Gangs(Gangs { layout: Some(Layout::Tile), ..Gangs::default() }),
        launch: LaunchFacts::of_range(range.global_offset, range.global_size, range.local_size),
        simd: Some(simd),
        ..CompileOptions::default()
    }
}

/// What the report says of a kernel.
fn report(module: &Module, name: &str, options: CompileOptions) -> String {
    let kernel = module.kernels.iter().position(|kernel| kernel.name == name).unwrap();
    let compiled = compile_kernel(module, kernel, &CompileOptions { report: true, ..options }).unwrap();
    compiled.report.as_ref().unwrap().to_string()
}

/// Runs a kernel in groups of every size on registers of 128 to 512 bits; in how many of the cases accesses go by column.
fn check(module: &Module, name: &str, bytes: u64) -> [usize; 3] {
    let mut by_column = [0; 3];
    for local in LOCALS.into_iter().filter(|&[x, y]| name != "through_local" || x == y) {
        let size = [3 * local[0], 2 * local[1]];
        let range = NdRange::new(&size, &local);
        let arguments = [Arg::Buffer(0), Arg::Buffer(1), Arg::i32(size[0] as i32), Arg::i32(size[1] as i32)];
        let buffers = vec![input(size[0] * size[1] * bytes.div_ceil(4)), vec![0; (size[0] * size[1] * bytes) as usize]];
        let mut expected = Memory::new(buffers.clone());
        interp::run_kernel(module, name, &range, &arguments, &mut expected).unwrap();
        for (simd, by_column) in SIMD.into_iter().zip(&mut by_column) {
            let options = options(&range, simd);
            let mut found = Memory::new(buffers.clone());
            machine::run_with(options.clone(), module, name, &range, &arguments, &mut found).unwrap();
            assert!(found.buffers == expected.buffers, "{name} by {local:?} in {simd} bits: other results");
            let report = report(module, name, options);
            *by_column += usize::from(report.contains("column by column"));
        }
    }
    by_column
}

/// Wherever groups are whole tiles and registers hold a quarter of their rows; not vectors, of which each is a row.
#[test]
fn transposing_kernels() {
    let module = build(include_str!("columns.cl"));
    let cases = [
        ("writes_columns", 4, [3, 5, 7]),
        ("reads_columns", 4, [3, 5, 7]),
        ("both", 4, [3, 5, 7]),
        ("bytes", 1, [7, 7, 7]),
        ("shorts", 2, [5, 7, 7]),
        ("longs", 8, [3, 5, 7]),
        ("pairs", 8, [0, 0, 0]),
        ("through_local", 4, [1, 2, 3]),
        ("with_tables", 4, [3, 5, 7]),
    ];
    let found = cases.map(|(name, bytes, _)| (name, bytes, check(&module, name, bytes)));
    for ((name, _, found), (_, _, wanted)) in found.into_iter().zip(cases) {
        // A machine has narrower registers, and then these take their place.
        let own = SIMD.iter().filter(|&&simd| host_target(Some(simd)).register_bits == simd).count();
        assert_eq!(found[..own], wanted[..own], "{name}");
    }
}

#[test]
fn indices_that_wrap_in_columns() {
    let module = wrapping(1, 0);
    for (n, local) in [1, 7, 60, 85, 127, 250, 254].into_iter().flat_map(|n| [[8, 8], [16, 16]].map(|l| (n, l))) {
        let range = NdRange::new(&local, &local);
        let arguments = [Arg::Buffer(0), Arg::Buffer(1), Arg::i32(n)];
        let buffers = vec![input(512), vec![0; 4 * 256]];
        let mut expected = Memory::new(buffers.clone());
        interp::run_kernel(&module, "wrapping", &range, &arguments, &mut expected).unwrap();
        let options = options(&range, 512);
        let mut found = Memory::new(buffers.clone());
        machine::run_with(options.clone(), &module, "wrapping", &range, &arguments, &mut found).unwrap();
        assert!(found.buffers == expected.buffers, "{n} by {local:?}: other results");
        let report = report(&module, "wrapping", options);
        assert!(report.contains("column by column, unless an index wraps"), "{report}");
    }
}
