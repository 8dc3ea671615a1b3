//! The outlines of programs and kernels: what analyses of a program as it was imported find for the host.

use crate::analysis::{counters, nontemporal, specialization_candidates, traversal_order, work_group_dependence};
use crate::ir::{Kernel, LocalData, Module};
use lockstep_protocol::program_metadata::{KernelOutline, LocalVariable, Outline};

/// The outline of a program.
pub fn describe_program(module: &Module) -> Outline {
    Outline {
        globals: module.globals.values().cloned().collect(),
        formats: module.formats.values().cloned().collect(),
        kernels: module.kernels.iter().map(|kernel| describe_kernel(module, kernel)).collect(),
    }
}

/// The outline of a kernel as it was imported.
pub fn describe_kernel(module: &Module, kernel: &Kernel) -> KernelOutline {
    KernelOutline {
        name: kernel.name.clone(),
        params: kernel.params.clone(),
        args_size: kernel.args_size,
        inputs: kernel.inputs.clone(),
        locals: kernel.locals.values().map(|&LocalData { size, align, .. }| LocalVariable { size, align }).collect(),
        private_bytes: module.count_private_bytes(kernel),
        attrs: kernel.attrs.clone(),
        divisors: specialization_candidates::find_id_divisors(kernel),
        steps: specialization_candidates::find_id_multipliers(kernel),
        to_be_apart: specialization_candidates::to_be_apart(kernel),
        counters: counters::find_counters(kernel),
        streams: nontemporal::find_streams(kernel),
        needs_groups: work_group_dependence::needs_groups(kernel),
        order: traversal_order::find_order(module, kernel),
        insts: module.count_instructions(kernel),
    }
}
