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
        steps: specialization_candidates::find_id_multipliers(kernel)
            | specialization_candidates::find_loop_steps(kernel),
        to_be_apart: specialization_candidates::to_be_apart(kernel),
        counters: counters::find_counters(kernel),
        streams: nontemporal::find_streams(kernel),
        needs_groups: work_group_dependence::needs_groups(kernel),
        order: traversal_order::find_order(module, kernel),
        insts: module.count_instructions(kernel),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse_module;

    #[test]
    fn private_memory_is_that_of_all_functions_on_the_way() {
        let text = "
function fn0 \"below\" {
  slot ss0 size 40 align 4
  region r0 {
  b0():
    return
  }
}
function fn1 \"above\" {
  slot ss0 size 300 align 4
  region r0 {
  b0():
    call fn0()
    return
  }
}
function fn2 \"of_another_kernel\" {
  slot ss0 size 5000 align 4
  region r0 {
  b0():
    return
  }
}
kernel \"k\" {
  slot ss0 size 8 align 4
  region r0 {
  b0():
    call fn1()
    return
  }
}
";
        let module = parse_module(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(describe_program(&module).kernels[0].private_bytes, 348);
    }
}
