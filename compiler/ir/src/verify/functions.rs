//! Functions that are called: code as kernels have it before their barriers, but that calls give what it works on.

use super::{Stage, Verifier, first_line};
use crate::ir::*;
use lockstep_protocol::parameters::Input;

impl Verifier<'_> {
    pub(super) fn check_function(&mut self, callee: Callee, function: &Kernel) {
        let stage_of_kernels = std::mem::replace(&mut self.stage, Stage::Imported);
        self.check_code(function);
        self.stage = stage_of_kernels;
        self.place.clear();
        let line = first_line(function).replacen("kernel", &format!("function {callee}"), 1);
        let mut inputs = (0..).zip(&function.inputs);
        if !inputs.all(|(position, &(input, _))| input == Input::Passed { position }) {
            self.add_error(&line, "a function's inputs are what calls pass, in their order");
        }
        if function.called_functions().any(|called| called >= callee) {
            self.add_error(&line, "a function calls only functions that stand before it");
        }
        for (region, code) in &function.regions {
            self.place = region.to_string();
            for (instruction, _) in code.insts.iter().filter(|(_, inst_node)| !may_stand_in_function(&inst_node.data)) {
                self.add_error(
                    &inst_text(code, instruction),
                    "a function knows nothing of its work-item, group or gang",
                );
            }
        }
    }
}

/// Whether an instruction does the same whichever work-item calls, given its operands, and waits for nobody.
pub fn may_stand_in_function(inst_data: &InstData) -> bool {
    let is_of_work_item = matches!(
        inst_data,
        InstData::Query { .. }
            | InstData::LocalAddr { .. }
            | InstData::Barrier
            | InstData::Collective { .. }
            | InstData::Combined
            | InstData::Yield
            | InstData::Clock
            | InstData::CountIterations { .. }
            | InstData::Unary { opcode: UnaryOp::SpaceOf, .. }
    );
    !is_of_work_item && !inst_data.needs_lanes()
}
