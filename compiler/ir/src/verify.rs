//! What must hold of a module between passes.
//!
//! The checks come in layers: the module's and kernel's own tables; a function's structure (all that is
//! named exists, each thing stands in one place); the types of each operation (`verify/types.rs`); and,
//! only where the structure holds, dominance of uses by definitions; then the control flow of a stage
//! (`verify/normal.rs`, `verify/linear.rs`).

use crate::analysis::cfg::build_cfg;
use crate::analysis::dominators::compute_dominators;
use crate::ir::*;
use cranelift_entity::SecondaryMap;
use lockstep_protocol::parameters::Input;
use lockstep_protocol::types::{Space, Type};
use std::collections::HashSet;
use std::fmt;

mod functions;
mod linear;
mod normal;
mod types;

pub use functions::may_stand_in_function;
pub use types::takes_types;

/// How far a kernel has come; each stage has its own rules.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// As import leaves it: one region, barriers as instructions.
    Imported,
    /// After `barriers`: regions, live slots and exits instead of barriers.
    Regions,
    /// After `normalize`: as `Regions`, and the control flow has normal form.
    Normalized,
    /// After `unmasked_loops`, `coherent_branches` and `per_lane_loops`: as `Normalized`, and lanes may be asked.
    Versioned,
    /// After `linearize`: regions for lanes in lock-step; blocks have masks.
    Linearized,
}

/// A broken rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The kernel, empty for the module's own tables.
    pub kernel: String,
    /// The region and block, where there is one.
    pub place: String,
    /// The line of text of what is wrong.
    pub line: String,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.kernel.is_empty() {
            write!(formatter, "kernel {:?}", self.kernel)?;
        }
        if !self.place.is_empty() {
            write!(formatter, ", {}", self.place)?;
        }
        write!(formatter, ": {}\n  {}", self.message, self.line)
    }
}

impl VerifyError {
    /// Where in the source what is wrong comes from, as its line says.
    pub fn source_loc(&self) -> Option<SourceLoc> {
        let (line, column) = self.line.rsplit_once(" @")?.1.split_once(':')?;
        Some(SourceLoc { line: line.parse().ok()?, column: column.parse().ok()? })
    }
}

impl std::error::Error for VerifyError {}

/// Checks every rule of a stage; the errors come in the order of the text.
pub fn verify_module(module: &Module, stage: Stage) -> Result<(), Vec<VerifyError>> {
    let mut verifier = Verifier { module, stage, kernel: String::new(), place: String::new(), errors: Vec::new() };
    verifier.check_tables();
    let mut names = HashSet::new();
    for (callee, function) in &module.functions {
        verifier.kernel.clone_from(&function.name);
        verifier.check_function(callee, function);
    }
    for kernel in &module.kernels {
        verifier.kernel.clone_from(&kernel.name);
        if !names.insert(&kernel.name) {
            verifier.add_error(&format!("kernel {:?} {{", kernel.name), "two kernels have this name");
        }
        verifier.check_kernel(kernel);
    }
    verifier.into_result()
}

/// Checks one kernel of a module, or a form of one of its functions, as `verify_module` does.
pub fn verify_kernel(module: &Module, kernel: &Kernel, stage: Stage) -> Result<(), Vec<VerifyError>> {
    let mut verifier =
        Verifier { module, stage, kernel: kernel.name.clone(), place: String::new(), errors: Vec::new() };
    verifier.check_code(kernel);
    verifier.into_result()
}

struct Verifier<'a> {
    module: &'a Module,
    stage: Stage,
    kernel: String,
    place: String,
    errors: Vec<VerifyError>,
}

/// One function under check.
struct Code<'a> {
    kernel: &'a Kernel,
    region: Region,
    function: &'a Function,
}

fn first_line(text: impl fmt::Display) -> String {
    let text = text.to_string();
    text.lines().next().unwrap_or_default().trim().to_string()
}

impl Verifier<'_> {
    fn into_result(self) -> Result<(), Vec<VerifyError>> {
        if self.errors.is_empty() { Ok(()) } else { Err(self.errors) }
    }

    fn add_error(&mut self, line: &str, message: impl Into<String>) {
        self.errors.push(VerifyError {
            kernel: self.kernel.clone(),
            place: self.place.clone(),
            line: line.to_string(),
            message: message.into(),
        });
    }

    fn check_align(&mut self, line: &str, alignment: u32) {
        if !alignment.is_power_of_two() {
            self.add_error(line, format!("alignment {alignment} is no power of two"));
        }
    }

    fn check_tables(&mut self) {
        for (global, global_data) in &self.module.globals {
            let line = first_line(Module { globals: [global_data.clone()].into_iter().collect(), ..Module::default() })
                .replacen("g0", &global.to_string(), 1);
            self.check_align(&line, global_data.align);
            if !matches!(global_data.space, Space::Global | Space::Constant) {
                self.add_error(&line, format!("no program-scope variable is in {}", global_data.space.name()));
            }
            for &(offset, target, _) in &global_data.relocs {
                if offset.checked_add(8).is_none_or(|end_offset| end_offset > global_data.init.len() as u64) {
                    self.add_error(&line, format!("the address at {offset} is out of bounds"));
                }
                if !self.module.globals.is_valid(target) {
                    self.add_error(&line, format!("{target} does not exist"));
                }
            }
        }
    }

    fn check_kernel(&mut self, kernel: &Kernel) {
        for (input, value_type) in &kernel.inputs {
            if let Input::Passed { position } = input {
                self.add_error(&format!("input passed({position}): {value_type}"), "nobody calls a kernel");
            }
        }
        self.check_code(kernel);
    }

    fn check_code(&mut self, kernel: &Kernel) {
        self.place.clear();
        let first_line = format!("kernel {:?} {{", kernel.name);
        for parameter in &kernel.params {
            let line = param_text(parameter);
            self.check_align(&line, parameter.align);
            if u64::from(parameter.offset) + u64::from(parameter.size) > u64::from(kernel.args_size) {
                self.add_error(&line, "the parameter ends behind the argument block");
            }
        }
        for (input, value_type) in &kernel.inputs {
            let (param, line, end_offset) = match *input {
                Input::Value { param, offset } => (
                    param,
                    format!("input value({param}, {offset}): {value_type}"),
                    u64::from(offset) + u64::from(value_type.bytes()),
                ),
                Input::Address { param } => (param, format!("input address({param}): {value_type}"), 0),
                Input::Passed { .. } => continue,
            };
            match kernel.params.get(param as usize) {
                None => self.add_error(&line, format!("parameter {param} does not exist")),
                Some(data) if end_offset > u64::from(data.size) => {
                    self.add_error(&line, "the input ends behind its parameter");
                }
                Some(_) => {}
            }
            if matches!(input, Input::Address { .. }) && !value_type.is_ptr() {
                self.add_error(&line, format!("an address cannot be {value_type}"));
            }
        }
        for (slot, slot_data) in &kernel.slots {
            let line = format!("slot {slot} {slot_data}");
            self.check_align(&line, slot_data.align);
            if let SlotLayout::Interleaved { element, lanes } = slot_data.layout {
                if !element.is_power_of_two() || element > slot_data.align {
                    self.add_error(&line, "elements must be as large as a power of two, and aligned");
                }
                if !lanes.is_power_of_two() {
                    self.add_error(&line, "the lanes must be a power of two");
                }
            }
        }
        for (local_variable, local_data) in &kernel.locals {
            let line = format!("local {local_variable} size {} align {}", local_data.size, local_data.align);
            self.check_align(&line, local_data.align);
        }
        match (self.stage, kernel.regions.len()) {
            (_, 0) => self.add_error(&first_line, "the kernel has no code"),
            (Stage::Imported, 2..) => self.add_error(&first_line, "regions come only with `barriers`"),
            _ => {}
        }
        for (region, combine) in kernel.combines.iter() {
            let Some(Combine { opcode, live_slot, .. }) = *combine else { continue };
            match kernel.live.get(live_slot) {
                None => self.add_error(&first_line, format!("{live_slot} does not exist")),
                Some(live_data) if opcode.identity(live_data.ty).is_none() => {
                    self.add_error(&first_line, format!("{region} combines {} by {}", live_data.ty, opcode.name()));
                }
                Some(live_data) if live_data.shared => {
                    self.add_error(&first_line, format!("{region} combines {live_slot}, of which the group has one"));
                }
                Some(_) => {}
            }
        }
        for (region, function) in &kernel.regions {
            self.place = region.to_string();
            let before = self.errors.len();
            let code = Code { kernel, region, function };
            self.check_structure(region, &code);
            if self.errors.len() == before {
                self.code_types(region, &code);
                self.check_dominance(region, function);
            }
            if self.errors.len() == before {
                match self.stage {
                    Stage::Normalized | Stage::Versioned => self.normal_form(region, &code),
                    Stage::Linearized => self.check_linearized(region, &code),
                    Stage::Imported | Stage::Regions => {}
                }
            }
        }
    }

    fn check_structure(&mut self, region: Region, code: &Code<'_>) {
        let function = code.function;
        let first_line = format!("region {region} {{");
        if function.layout.is_empty() {
            return self.add_error(&first_line, "the region has no block");
        }
        let mut block_seen: SecondaryMap<Block, bool> = SecondaryMap::new();
        for &block in &function.layout {
            if !function.blocks.is_valid(block) {
                return self.add_error(&first_line, format!("{block} does not exist"));
            }
            if std::mem::replace(&mut block_seen[block], true) {
                return self.add_error(&first_line, format!("{block} stands twice in the layout"));
            }
        }
        let mut inst_seen: SecondaryMap<Inst, bool> = SecondaryMap::new();
        for &block in &function.layout {
            self.place = format!("{region}, {block}");
            let block_data = &function.blocks[block];
            for (index, &parameter) in block_data.params.iter().enumerate() {
                self.check_definition(
                    function,
                    || block_text(function, block),
                    parameter,
                    ValueDef::Param(block, index as u32),
                );
            }
            if let Some(mask) = function.masks[block].expand() {
                if self.stage != Stage::Linearized {
                    self.add_error(&block_text(function, block), "masks come only with `linearize`");
                } else if !function.values.is_valid(mask) {
                    self.add_error(&first_line, format!("{mask} does not exist"));
                } else if function.ty(mask) != Type::BOOL {
                    self.add_error(&block_text(function, block), format!("a mask cannot be {}", function.ty(mask)));
                }
            }
            for &instruction in &block_data.insts {
                if !function.insts.is_valid(instruction) {
                    self.add_error(&first_line, format!("{instruction} does not exist"));
                    continue;
                }
                if std::mem::replace(&mut inst_seen[instruction], true) {
                    self.add_error(&inst_text(function, instruction), "the instruction stands in two places");
                }
                let inst_node = &function.insts[instruction];
                for (index, &result) in inst_node.results.iter().enumerate() {
                    let definition = ValueDef::Result(instruction, index as u32);
                    self.check_definition(function, || inst_text(function, instruction), result, definition);
                }
                inst_node.data.for_each_arg(|value| {
                    if !function.values.is_valid(value) {
                        self.add_error(&inst_text(function, instruction), format!("{value} does not exist"));
                    }
                });
                self.check_references(code, instruction);
            }
            let line = || term_text(function, block);
            block_data.terminator.for_each_arg(|value| {
                if !function.values.is_valid(value) {
                    self.add_error(&line(), format!("{value} does not exist"));
                }
            });
            for target in block_data.terminator.targets() {
                if !function.blocks.is_valid(target.block) || !block_seen[target.block] {
                    self.add_error(&line(), format!("{} is not in the layout", target.block));
                } else if target.block == function.entry_block() {
                    self.add_error(&line(), "the entry block has a predecessor");
                } else if target.arguments.len() != function.blocks[target.block].params.len() {
                    let message = format!(
                        "{} has {} parameters, here are {}",
                        target.block,
                        function.blocks[target.block].params.len(),
                        target.arguments.len()
                    );
                    self.add_error(&line(), message);
                }
            }
            if let Terminator::Exit(target_region) = block_data.terminator {
                if self.stage == Stage::Imported {
                    self.add_error(&line(), "exits come only with `barriers`");
                } else if !code.kernel.regions.is_valid(target_region) {
                    self.add_error(&line(), format!("{target_region} does not exist"));
                }
            }
        }
    }

    fn check_definition(
        &mut self,
        function: &Function,
        line: impl FnOnce() -> String,
        value: Value,
        definition: ValueDef,
    ) {
        let message = match function.values.get(value) {
            None => format!("{value} does not exist"),
            Some(value_data) if value_data.definition != definition => format!("{value} is defined elsewhere"),
            Some(value_data) if matches!(value_data.ty, Type::Int(w) if !(1..=128).contains(&w)) => {
                format!("{value} has no possible type")
            }
            Some(_) => return,
        };
        self.add_error(&line(), message);
    }

    /// What an instruction names beside values exists and may stand there at this stage.
    fn check_references(&mut self, code: &Code<'_>, instruction: Inst) {
        let missing = match code.function.insts[instruction].data {
            InstData::SlotAddr { slot } if !code.kernel.slots.is_valid(slot) => slot.to_string(),
            InstData::LocalAddr { local } if !code.kernel.locals.is_valid(local) => local.to_string(),
            InstData::GlobalAddr { global } if !self.module.globals.is_valid(global) => global.to_string(),
            InstData::Call { callee, .. } if !self.module.functions.is_valid(callee) => callee.to_string(),
            InstData::Printf { format, .. } if !self.module.formats.is_valid(format) => format.to_string(),
            InstData::LiveLoad { live_slot } | InstData::LiveStore { live_slot, .. } => {
                if self.stage == Stage::Imported {
                    let line = inst_text(code.function, instruction);
                    return self.add_error(&line, "live slots come only with `barriers`");
                }
                if code.kernel.live.is_valid(live_slot) {
                    return;
                }
                live_slot.to_string()
            }
            InstData::Any { .. }
            | InstData::LaneOf { .. }
            | InstData::Put { .. }
            | InstData::CountIterations { .. }
                if !matches!(self.stage, Stage::Versioned | Stage::Linearized) =>
            {
                let line = inst_text(code.function, instruction);
                return self.add_error(&line, "lanes are asked only after `normalize`");
            }
            InstData::Barrier | InstData::Collective { .. } if self.stage != Stage::Imported => {
                let line = inst_text(code.function, instruction);
                return self.add_error(&line, "a barrier is left after `barriers`");
            }
            _ => return,
        };
        self.add_error(&inst_text(code.function, instruction), format!("{missing} does not exist"));
    }

    fn check_dominance(&mut self, region: Region, function: &Function) {
        let flow_graph = build_cfg(function);
        let dominators = compute_dominators(&flow_graph);
        // Where in its block each instruction stands, from 1; 0 for those no block holds.
        let mut order: SecondaryMap<Inst, u32> = SecondaryMap::new();
        let mut home_blocks: SecondaryMap<Inst, Option<Block>> = SecondaryMap::new();
        for &block in &function.layout {
            for (index, &instruction) in function.blocks[block].insts.iter().enumerate() {
                order[instruction] = index as u32 + 1;
                home_blocks[instruction] = Some(block);
            }
        }
        let result_is_available = |instruction: Inst, block: Block, position: u32| match home_blocks[instruction] {
            Some(definition) if definition == block => order[instruction] < position,
            Some(definition) => dominators.dominates(definition, block),
            None => false,
        };
        let available = |value: Value, block: Block, position: u32| match function.values[value].definition {
            ValueDef::Const(_) => true,
            ValueDef::Param(definition, _) => dominators.dominates(definition, block),
            ValueDef::Result(instruction, _) => result_is_available(instruction, block, position),
        };
        for &block in &function.layout {
            self.place = format!("{region}, {block}");
            if !flow_graph.is_reachable(block) {
                self.add_error(&block_text(function, block), "no path leads to this block");
                continue;
            }
            if let Some(mask) = function.masks[block].expand()
                && !available(mask, block, 0)
            {
                self.add_error(&block_text(function, block), is_undefined(mask));
            }
            for &instruction in &function.blocks[block].insts {
                function.insts[instruction].data.for_each_arg(|operand| {
                    if !available(operand, block, order[instruction]) {
                        self.add_error(&inst_text(function, instruction), is_undefined(operand));
                    }
                });
            }
            function.blocks[block].terminator.for_each_arg(|operand| {
                if !available(operand, block, u32::MAX) {
                    self.add_error(&term_text(function, block), is_undefined(operand));
                }
            });
        }
    }
}

fn is_undefined(value: Value) -> String {
    format!("{value} is not defined on every path to here")
}

#[cfg(test)]
mod tests {
    //! What no text can say; everything else is in `filetests/verify`.

    use super::*;

    fn kernel(build: impl FnOnce(&mut Function)) -> Vec<String> {
        let mut module = parse_module("kernel \"k\" { region r0 { b0: return } }").unwrap();
        build(module.kernels[0].body_mut());
        let errors = verify_module(&module, Stage::Imported).err().unwrap_or_default();
        errors.into_iter().map(|error| error.message).collect()
    }

    fn add() -> InstData {
        let arguments = [Value::from_u32(90); 2];
        InstData::Binary {
            opcode: BinaryOp::Add,
            flags: IntFlags::default(),
            fast_math: FastMath::default(),
            arguments,
        }
    }

    #[test]
    fn names_must_exist() {
        let entry_block = Block::from_u32(0);
        assert_eq!(kernel(|f| f.layout.push(Block::from_u32(7))), ["b7 does not exist"]);
        assert_eq!(kernel(|f| f.layout.push(entry_block)), ["b0 stands twice in the layout"]);
        assert_eq!(kernel(|f| f.blocks[entry_block].insts.push(Inst::from_u32(4))), ["i4 does not exist"]);
        assert_eq!(kernel(|f| f.blocks[entry_block].params.push(Value::from_u32(4))), ["v4 does not exist"]);
        let missing = kernel(|function| {
            function.append_inst(entry_block, add(), &[Type::I32], SourceLoc::default());
        });
        assert_eq!(missing, ["v90 does not exist"; 2]);
        let off_layout = kernel(|function| {
            let block = function.add_block();
            function.layout.pop();
            function.blocks[entry_block].terminator = Terminator::Jump(BlockCall { block, arguments: vec![] });
        });
        assert_eq!(off_layout, ["b1 is not in the layout"]);
        let selector = kernel(|function| {
            let target = BlockCall { block: function.add_block(), arguments: vec![] };
            let condition = Value::from_u32(50);
            function.blocks[entry_block].terminator =
                Terminator::Branch { condition, then_to: target.clone(), else_to: target };
        });
        assert_eq!(selector, ["v50 does not exist"]);
    }

    #[test]
    fn each_thing_stands_in_one_place() {
        let entry_block = Block::from_u32(0);
        let twice = kernel(|function| {
            let one = function.constant(Type::I32, 1);
            let instruction = function.append_inst(entry_block, add(), &[Type::I32], SourceLoc::default());
            function.insts[instruction].data.map_args(|_| one);
            function.blocks[entry_block].insts.push(instruction);
        });
        assert_eq!(twice, ["the instruction stands in two places"]);
        let elsewhere = kernel(|function| {
            let one = function.constant(Type::I32, 1);
            function.blocks[entry_block].params.push(one);
        });
        assert_eq!(elsewhere, ["v0 is defined elsewhere"]);
        let dropped = kernel(|function| {
            let one = function.constant(Type::I32, 1);
            let gone = function.append_inst(entry_block, add(), &[Type::I32], SourceLoc::default());
            function.insts[gone].data.map_args(|_| one);
            function.blocks[entry_block].insts.clear();
            let user = function.append_inst(entry_block, add(), &[Type::I32], SourceLoc::default());
            let gone = function.single_result(gone);
            function.insts[user].data.map_args(|_| gone);
        });
        assert_eq!(dropped, ["v1 is not defined on every path to here"; 2]);
    }

    #[test]
    fn types_and_cases_are_in_range() {
        let entry_block = Block::from_u32(0);
        let typeless = kernel(|function| {
            function.append_inst(
                entry_block,
                InstData::Query { query: Query::GlobalId, dimension: 0 },
                &[Type::Int(0)],
                SourceLoc::default(),
            );
        });
        assert_eq!(typeless, ["v0 has no possible type"]);
        let case = kernel(|function| {
            let value = function.constant(Type::I8, 1);
            let target = BlockCall { block: function.add_block(), arguments: vec![] };
            function.blocks[entry_block].terminator =
                Terminator::Switch { value, cases: vec![(256, target.clone())], default: target };
        });
        assert_eq!(case, ["case 0x100 is no i8"]);
    }

    #[test]
    fn messages_name_the_place_and_show_the_line() {
        let mut module = parse_module("kernel \"k\" { region r0 { b0: return } }").unwrap();
        let function = module.kernels[0].body_mut();
        let one = function.constant(Type::I32, 1);
        let instruction =
            function.append_inst(function.entry_block(), add(), &[Type::I64], SourceLoc { line: 3, column: 4 });
        function.insts[instruction].data.map_args(|_| one);
        let errors = verify_module(&module, Stage::Imported).unwrap_err();
        let expected = "kernel \"k\", r0, b0: the operand must be i64, not i32\n  v1: i64 = add 1:i32, 1:i32 @3:4";
        assert_eq!(errors[0].to_string(), expected);
    }
}
