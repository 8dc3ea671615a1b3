//! Random kernels do the same interpreted and as machine code, with and without optimisation.

use crate::machine;
use lockstep_ir::interp::{Memory, run_kernel};
use lockstep_ir::testing::{Shape, random_kernel};

/// A few seeds, or those in `LOCKSTEP_TEST_SEEDS` (`from..to`).
fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("LOCKSTEP_TEST_SEEDS").ok();
    let range = given.as_deref().and_then(|text| text.split_once(".."));
    match range.map(|(from, to)| (from.parse(), to.parse())) {
        Some((Ok(from), Ok(to))) => from..to,
        _ => 0..50,
    }
}

#[test]
fn machine_code_does_what_the_interpreter_does() {
    for seed in seeds() {
        let g = random_kernel(seed, Shape { unstructured: seed % 3 == 0, ..Shape::default() });
        let mut expected = Memory::new(g.buffers.clone());
        run_kernel(&g.module, "random", &g.range, &g.args, &mut expected)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        for opt_disable in [false, true] {
            let mut found = Memory::new(g.buffers.clone());
            machine::run(&g.module, "random", &g.range, &g.args, &mut found, opt_disable)
                .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", g.module));
            let same = found.buffers == expected.buffers;
            assert!(same, "seed {seed}, opt_disable {opt_disable}: other results\n{:?}\n{}", g.range, g.module);
        }
    }
}
