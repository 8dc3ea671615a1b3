//! What the ways of a long switch have in common passes through memory.
//!
//! A variable that goes into thousands of cases and comes back from them lives in all of them. LLVM's register allocation joins
//! it with its copy in each case and looks at the whole of it each time, and whether it lives on behind a block is found out by a
//! walk over all blocks that use it: of a switch of 3,000 cases, a third of code generation grew with the square of the cases. In
//! memory a variable lives in one case at a time. The switch's jump, which no processor foresees, hides the way there and back.
//!
//! Requires: a module behind all optimization: nothing takes variables out of memory again.
//! Ensures: in functions with a switch of more than [`LONG_SWITCH`] ways, what φs of its targets and of blocks with more than
//! [`MANY_WAYS`] predecessors get is stored at the ends of these and loaded by the block, and a value that more than
//! [`MANY_WAYS`] blocks use is stored behind its definition and loaded by each of them. A φ stays that would take one
//! of its predecessors a store for each of its ways.
//! Phases: function by function, φs, then values.
//! Source: our own.
//!
//! ```text
//! top:   switch %k, %end [0, %case0; …]           top:   store %x, %common
//!                                                        switch %k, %end [0, %case0; …]
//! case1: %y = phi [%x, %top], [%z, %case0]        case1: %y = load %common
//!        …                                  =>           …
//! case2: %u = mul %x, 3                           case2: %c = load %value
//!                                                        %u = mul %c, 3
//! ```

use std::collections::{HashMap, HashSet};

use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::Module;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{
    AnyValue, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, PhiValue, PointerValue,
};

use crate::frontend::llvm::{list_phis, list_users, successors};

/// Ways from which on a switch is long.
const LONG_SWITCH: usize = 1000;

/// Blocks from which on those that use a value, or that lead to one block, are many.
const MANY_WAYS: usize = 100;

/// Places that a block tries for what one of its φs gets.
const MOST_PLACES: usize = 4;

/// Passes what the ways of long switches share through memory. Whether there was such a switch.
pub fn share_through_memory(module: &Module<'_>) -> Result<bool, BuilderError> {
    let builder = module.get_context().create_builder();
    let mut has_long_switch = false;
    for function in module.get_functions() {
        let blocks = function.get_basic_blocks();
        let is_long = |block: &BasicBlock<'_>| successors(*block).count() > LONG_SWITCH;
        let targets: HashSet<BasicBlock<'_>> = blocks.iter().copied().filter(is_long).flat_map(successors).collect();
        if targets.is_empty() {
            continue;
        }
        has_long_switch = true;
        let mut variables = SharedVariables { function, builder: &builder, places: Vec::new(), stored: HashMap::new() };
        let mut shared_phis = Vec::new();
        for &block in &blocks {
            shared_phis.extend(variables.store_for_phis(block, targets.contains(&block))?);
        }
        for &(phi, place) in &shared_phis {
            load_instead(&builder, phi, place)?;
        }
        // What is stored was compared with other values: until here, none of them may be at the address of one that is gone.
        shared_phis.iter().for_each(|(phi, _)| phi.as_instruction().erase_from_basic_block());
        let values: Vec<_> = blocks.iter().flat_map(|block| block.get_instructions()).collect();
        values.into_iter().try_for_each(|value| variables.load_where_used(value, &blocks))?;
    }
    Ok(has_long_switch)
}

/// The variables of a function that are in memory.
struct SharedVariables<'a, 'ctx> {
    function: FunctionValue<'ctx>,
    builder: &'a Builder<'ctx>,
    /// What φs get lies here, by type and the φ's index in its block: several places if need be.
    places: Vec<(BasicTypeEnum<'ctx>, usize, PointerValue<'ctx>)>,
    /// What blocks store at their ends.
    stored: HashMap<(BasicBlock<'ctx>, PointerValue<'ctx>), BasicValueEnum<'ctx>>,
}

impl<'ctx> SharedVariables<'_, 'ctx> {
    /// Has those that lead to a block store what its φs get, if they are many or a long switch is one of them; the φs, and where
    /// that lies.
    fn store_for_phis(
        &mut self,
        block: BasicBlock<'ctx>,
        is_target: bool,
    ) -> Result<Vec<(PhiValue<'ctx>, PointerValue<'ctx>)>, BuilderError> {
        let mut shared_phis = Vec::new();
        for (index, phi) in list_phis(block).enumerate() {
            let incoming: Vec<_> = phi.get_incomings().collect();
            if !is_target && incoming.len() <= MANY_WAYS {
                continue;
            }
            let Some(place) = self.find_place(phi.as_basic_value().get_type(), index, &incoming)? else { continue };
            for (value, from_block) in incoming {
                let Some(terminator) = from_block.get_terminator() else { continue };
                if self.stored.insert((from_block, place), value).is_none() {
                    self.builder.position_before(&terminator);
                    self.builder.build_store(place, value)?;
                }
            }
            shared_phis.push((phi, place));
        }
        Ok(shared_phis)
    }

    /// Where what a φ gets may lie: no block that leads to it stores something else there. None, if there are already too many.
    fn find_place(
        &mut self,
        value_type: BasicTypeEnum<'ctx>,
        index: usize,
        incoming: &[(BasicValueEnum<'ctx>, BasicBlock<'ctx>)],
    ) -> Result<Option<PointerValue<'ctx>>, BuilderError> {
        let mut tried = 0;
        for &(place_type, place_index, place) in &self.places {
            if (place_type, place_index) != (value_type, index) {
                continue;
            }
            tried += 1;
            let is_other = |&(value, from_block): &(BasicValueEnum<'ctx>, BasicBlock<'ctx>)| {
                self.stored.get(&(from_block, place)).is_some_and(|&stored| stored != value)
            };
            if !incoming.iter().any(is_other) {
                return Ok(Some(place));
            }
        }
        if tried == MOST_PLACES {
            return Ok(None);
        }
        let place = self.allocate(value_type)?;
        self.places.push((value_type, index, place));
        Ok(Some(place))
    }

    /// Has each block that uses a value load it, if they are many.
    fn load_where_used(&self, value: InstructionValue<'ctx>, blocks: &[BasicBlock<'ctx>]) -> Result<(), BuilderError> {
        let users = list_users(value);
        if users.len() <= MANY_WAYS || value.get_opcode() == InstructionOpcode::Alloca {
            return Ok(());
        }
        let (Some(own_block), Some(basic_value)) = (value.get_parent(), as_basic_value(value)) else { return Ok(()) };
        let mut users_by_block: HashMap<BasicBlock<'ctx>, Vec<InstructionValue<'ctx>>> = HashMap::new();
        for user in users.into_iter().filter(|user| user.get_opcode() != InstructionOpcode::Phi) {
            if let Some(block) = user.get_parent().filter(|&block| block != own_block) {
                users_by_block.entry(block).or_default().push(user);
            }
        }
        if users_by_block.len() <= MANY_WAYS {
            return Ok(());
        }
        let place = self.allocate(basic_value.get_type())?;
        match value.get_next_instruction().filter(|_| value.get_opcode() != InstructionOpcode::Phi) {
            Some(next_instruction) => self.builder.position_before(&next_instruction),
            None => position_behind_phis(self.builder, own_block),
        }
        self.builder.build_store(place, basic_value)?;
        for &block in blocks {
            let Some(users) = users_by_block.remove(&block) else { continue };
            position_behind_phis(self.builder, block);
            let loaded = self.builder.build_load(basic_value.get_type(), place, "")?;
            for user in users {
                for index in 0..user.get_num_operands() {
                    if user.get_operand(index).and_then(|operand| operand.value()) == Some(basic_value) {
                        user.set_operand(index, loaded);
                    }
                }
            }
        }
        Ok(())
    }

    /// A place for values of a type on the function's stack.
    fn allocate(&self, value_type: BasicTypeEnum<'ctx>) -> Result<PointerValue<'ctx>, BuilderError> {
        if let Some(first) = self.function.get_first_basic_block().and_then(|entry| entry.get_first_instruction()) {
            self.builder.position_before(&first);
        }
        self.builder.build_alloca(value_type, "")
    }
}

/// Loads what a φ gets, for all that use the φ.
fn load_instead<'ctx>(
    builder: &Builder<'ctx>,
    phi: PhiValue<'ctx>,
    place: PointerValue<'ctx>,
) -> Result<(), BuilderError> {
    let Some(block) = phi.as_instruction().get_parent() else { return Ok(()) };
    position_behind_phis(builder, block);
    let loaded = builder.build_load(phi.as_basic_value().get_type(), place, "")?;
    if let Some(load) = loaded.as_instruction_value() {
        phi.as_instruction().replace_all_uses_with(&load);
    }
    Ok(())
}

fn position_behind_phis<'ctx>(builder: &Builder<'ctx>, block: BasicBlock<'ctx>) {
    let is_phi = |instruction: &InstructionValue<'ctx>| instruction.get_opcode() == InstructionOpcode::Phi;
    match block.get_instructions().find(|instruction| !is_phi(instruction)) {
        Some(first) => builder.position_before(&first),
        None => builder.position_at_end(block),
    }
}

/// What an instruction computes, if that can lie in memory.
fn as_basic_value(instruction: InstructionValue<'_>) -> Option<BasicValueEnum<'_>> {
    match PhiValue::try_from(instruction) {
        Ok(phi) => Some(phi.as_basic_value()),
        Err(_) => instruction.as_any_value_enum().try_into().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// A switch of so many cases, every third of which falls into the next one. All change the same variable.
    fn falling_cases(count: usize) -> String {
        let mut text =
            "define i32 @f(i32 %k, ptr %p) {\ntop:\n  %x = load i32, ptr %p\n  switch i32 %k, label %end [\n"
                .to_owned();
        (0..count).for_each(|case| text += &format!("    i32 {case}, label %case{case}\n"));
        text += "  ]\n";
        for case in 0..count {
            let falls_into_it = case % 3 == 1;
            let falls_on = case % 3 == 0 && case + 1 < count;
            text += &format!("case{case}:\n");
            if falls_into_it {
                text += &format!("  %from{case} = phi i32 [ %x, %top ], [ %to{}, %case{} ]\n", case - 1, case - 1);
            }
            let variable = if falls_into_it { format!("%from{case}") } else { "%x".to_owned() };
            let next = if falls_on { format!("case{}", case + 1) } else { "end".to_owned() };
            text += &format!("  %to{case} = xor i32 {variable}, {}\n  br label %{next}\n", 3 * case + 1);
        }
        text += "end:\n  %left = phi i32 [ %x, %top ]";
        (0..count)
            .filter(|case| case % 3 != 0 || case + 1 == count)
            .for_each(|case| text += &format!(", [ %to{case}, %case{case} ]"));
        text + "\n  ret i32 %left\n}\n"
    }

    fn count_opcodes(module: &Module<'_>, opcode: InstructionOpcode) -> usize {
        let blocks = module.get_functions().flat_map(|function| function.get_basic_blocks());
        blocks.flat_map(|block| block.get_instructions()).filter(|found| found.get_opcode() == opcode).count()
    }

    fn share<'ctx>(context: &'ctx Context, text: &str) -> (Module<'ctx>, bool) {
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap();
        let has_long_switch = share_through_memory(&module).unwrap();
        module.verify().unwrap();
        (module, has_long_switch)
    }

    #[test]
    fn short_switches_stay_as_they_are() {
        let context = Context::create();
        let (module, has_long_switch) = share(&context, &falling_cases(LONG_SWITCH - 1));
        assert!(!has_long_switch);
        assert_eq!(count_opcodes(&module, InstructionOpcode::Alloca), 0);
    }

    #[test]
    fn cases_share_one_variable_in_memory() {
        let context = Context::create();
        let count = 3 * LONG_SWITCH;
        let (module, has_long_switch) = share(&context, &falling_cases(count));
        assert!(has_long_switch);
        assert_eq!(count_opcodes(&module, InstructionOpcode::Phi), 0);
        // What the φs get, and what cases need that are not fallen into.
        assert_eq!(count_opcodes(&module, InstructionOpcode::Alloca), 2);
        // The end of each block but the last one, and where the variable comes from.
        assert_eq!(count_opcodes(&module, InstructionOpcode::Store), count + 2);
        // Each block loads what it needs once.
        assert_eq!(count_opcodes(&module, InstructionOpcode::Load), count + 2);
    }

    /// Of two φs that the same block leads to with different values, each needs a place of its own.
    #[test]
    fn what_differs_by_case_has_places_of_its_own() {
        let context = Context::create();
        let text =
            falling_cases(2 * LONG_SWITCH).replace("%from4 = phi i32 [ %x, %top ]", "%from4 = phi i32 [ 7, %top ]");
        let (module, _) = share(&context, &text);
        let entry = module.get_function("f").unwrap().get_first_basic_block().unwrap();
        let stored = entry.get_instructions().filter(|found| found.get_opcode() == InstructionOpcode::Store);
        let constants = stored.filter(|store| {
            let stored_value = store.get_operand(0).and_then(|operand| operand.value());
            matches!(stored_value, Some(BasicValueEnum::IntValue(number)) if number.is_const())
        });
        assert_eq!(constants.count(), 1);
        assert_eq!(count_opcodes(&module, InstructionOpcode::Alloca), 3);
    }

    /// Where a switch's ways get more values than there are places, φs stay.
    #[test]
    fn phis_of_many_values_stay() {
        let context = Context::create();
        let count = 3 * LONG_SWITCH;
        let mut text = falling_cases(count);
        for case in (1..count).step_by(3) {
            text =
                text.replacen(&format!("%from{case} = phi i32 [ %x,"), &format!("%from{case} = phi i32 [ {case},"), 1);
        }
        let (module, _) = share(&context, &text);
        let phi_count = count_opcodes(&module, InstructionOpcode::Phi);
        assert!(phi_count > LONG_SWITCH - MOST_PLACES - 1 && phi_count < LONG_SWITCH, "{phi_count}");
    }
}
