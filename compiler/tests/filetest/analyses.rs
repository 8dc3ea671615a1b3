//! Facts that the analyses find.

use super::Fact;
use lockstep_compiler::analysis::cfg::cfg;
use lockstep_compiler::analysis::dominators::dominators;
use lockstep_compiler::ir::{Function, Module, block_text};
use lockstep_compiler::verify::VerifyError;

fn each_function(module: &Module, mut facts: impl FnMut(&Function, &mut Vec<Fact>)) -> Vec<Fact> {
    let mut found = Vec::new();
    for kernel in &module.kernels {
        for f in kernel.regions.values() {
            facts(f, &mut found);
        }
    }
    found
}

pub fn errors(errors: &[VerifyError]) -> Vec<Fact> {
    errors.iter().map(|e| (e.line.clone(), "error".to_string(), e.message.clone())).collect()
}

/// `idom: b2` for every block but the entry.
pub fn idoms(module: &Module) -> Vec<Fact> {
    each_function(module, |f, found| {
        let tree = dominators(&cfg(f));
        for &block in &f.layout {
            if let Some(idom) = tree.idom(block) {
                found.push((block_text(f, block), "idom".to_string(), idom.to_string()));
            }
        }
    })
}
