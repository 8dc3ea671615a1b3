//! Random kernels do the same interpreted and as machine code.

use crate::machine;
use lockstep_compiler::interp::{Memory, run};
use lockstep_compiler::testing::{Shape, random_kernel};

#[test]
fn machine_code_does_what_the_interpreter_does() {
    for seed in 0..60 {
        let g = random_kernel(seed, Shape::default());
        let mut expected = Memory::new(g.buffers.clone());
        run(&g.module, "random", &g.range, &g.args, &mut expected).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let mut found = Memory::new(g.buffers.clone());
        machine::run(&g.module, "random", &g.range, &g.args, &mut found)
            .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", g.module));
        assert!(found.buffers == expected.buffers, "seed {seed}: other results\n{:?}\n{}", g.range, g.module);
    }
}
