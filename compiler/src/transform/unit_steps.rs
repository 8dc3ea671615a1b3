//! Arguments that are 1, as constants.
//!
//! Requires: a kernel as imported, of any control flow.
//! Ensures: nothing uses an input of which the launch's facts say that it is 1. So `id * n` counts up by ones in the shapes
//! of values, and what it is an index of lies side by side.
//! Phases: one walk over each region.
//! Source: DESIGN decision 7: specialised on what is stable between launches.
//!
//! ```text
//! b0(v0: ptr.global, v1: i32):          b0(v0: ptr.global, v1: i32):
//!    v3: i32 = mul v2, v1           =>     v3: i32 = mul v2, 1
//! ```

use crate::ir::{Function, Kernel, Value};
use crate::launch_facts::LaunchFacts;

/// Puts 1 for such arguments.
pub fn unit_steps(kernel: &mut Kernel, launch: &LaunchFacts) {
    let ones: Vec<usize> = (0..kernel.inputs.len().min(32)).filter(|&input| launch.ones >> input & 1 == 1).collect();
    if !ones.is_empty() {
        kernel.regions.values_mut().for_each(|body| rewrite(body, &ones));
    }
}

fn rewrite(f: &mut Function, ones: &[usize]) {
    let params: Vec<Value> = f.blocks[f.entry()].params.clone();
    let known: Vec<(Value, Value)> = ones
        .iter()
        .map(|&input| {
            let ty = f.ty(params[input]);
            (params[input], f.constant(ty, 1))
        })
        .collect();
    let now = |value: Value| known.iter().find(|(param, _)| *param == value).map_or(value, |&(_, one)| one);
    for block in f.layout.clone() {
        for inst in f.blocks[block].insts.clone() {
            f.insts[inst].data.map_args(now);
        }
        f.blocks[block].term.map_args(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse_module;

    #[test]
    fn only_what_is_one_is_replaced() {
        let text = "kernel \"k\" {
 args 12
 param \"p\" pointer.global \"int*\" size 8 align 8 offset 0
 param \"n\" value \"int\" size 4 align 4 offset 8
 input value(0, 0): ptr.global
 input value(1, 0): i32
 region r0 {
 b0(v0: ptr.global, v1: i32):
   v2: i32 = mul v1, v1
   store v2 to v0 align 4
   jump b1(v1)
 b1(v3: i32):
   store v3 to v0 align 4
   return
 }
}
";
        let module = parse_module(text).expect("valid");
        let with = |ones| {
            let mut module = module.clone();
            unit_steps(&mut module.kernels[0], &LaunchFacts { ones, ..LaunchFacts::default() });
            module.to_string()
        };
        assert_eq!(with(0), module.to_string());
        let text = with(2);
        assert!(text.contains("mul 1, 1") && text.contains("jump b1(1)"), "{text}");
    }
}
