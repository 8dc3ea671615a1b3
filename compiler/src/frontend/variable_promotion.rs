//! Promotes variables in memory to values, in the time that it takes to walk over where they live.
//!
//! clang keeps every variable in memory. LLVM's `sroa` looks, for each variable that several blocks write, at all blocks behind the first of
//! these: of a kernel with 2,000 loops behind each other, each with variables of its own, it took half of all clean-up. Here a read looks
//! back from its block until it meets a write, and a block in which ways meet gets a φ on the way.
//!
//! Requires: valid functions, before anything is inlined: blocks may stand in any order, and some be reached by none.
//! Ensures: in functions that are worth it, variables of one value that are only read and written as a whole, not volatile, written
//! more than once, and live in few blocks are gone. All other variables are as they were.
//! Phases: finding the variables; blocks by themselves; reads that look back; the arguments of φs; φs that say nothing; what was read
//! and written is taken out.
//! Source: Braun et al. 2013, "Simple and Efficient Construction of Static Single Assignment Form", section 2.
//!
//! ```text
//! entry: store i32 0, ptr %i             entry:
//! loop:  %x = load i32, ptr %i           loop:  %x = phi i32 [ 0, %entry ], [ %y, %loop ]
//!        %y = add i32 %x, 1         =>          %y = add i32 %x, 1
//!        store i32 %y, ptr %i
//! ```

use std::collections::{HashMap, HashSet};

use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::Module;
use inkwell::types::{AsTypeRef, BasicTypeEnum};
use inkwell::values::{AsValueRef, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, PhiValue};
use llvm_sys::core::{
    LLVMGetAllocatedType, LLVMGetOperand, LLVMGetTypeKind, LLVMGetUndef, LLVMReplaceAllUsesWith, LLVMTypeOf,
};
use llvm_sys::prelude::LLVMValueRef;

use super::llvm::{list_users, require_plain_access, successors, value_operand};
use super::variables::{begins_lifetime, is_lifetime_marker, list_variables};

/// Variables times blocks of a function from which on they are promoted here. Below, LLVM takes less than 10 ms.
const WORTHWHILE: usize = 200_000;

/// Blocks up to which a variable may live. Of others LLVM looks at hardly more, and finds out first where they need φs.
const MOST_LIVE_BLOCKS: usize = 100;

/// Promotes variables of all functions that have many of them and many blocks.
pub(super) fn promote_variables(module: &Module<'_>) -> Result<(), BuilderError> {
    for function in module.get_functions().filter(|function| function.get_subprogram().is_none()) {
        let block_count = function.count_basic_blocks() as usize;
        if block_count > 1 && list_variables(function).count() * block_count > WORTHWHILE {
            promote_function_variables(module, function)?;
        }
    }
    Ok(())
}

fn promote_function_variables<'ctx>(module: &Module<'ctx>, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let flow = ControlFlow::of_function(function);
    let variables = find_short_lived_variables(function, &flow);
    let mut promotion = Promotion::new(module.get_context().create_builder(), flow, &variables);
    let exposed_reads = promotion.resolve_within_blocks(function);
    exposed_reads.iter().try_for_each(|&read| promotion.replace_exposed_read(read))?;
    promotion.fill_phis()?;
    let accesses = std::mem::take(&mut promotion.accesses);
    promotion.remove_redundant_phis();
    accesses.into_iter().for_each(|access| access.erase_from_basic_block());
    for (variable, _) in variables {
        list_users(variable).into_iter().for_each(|marker| marker.erase_from_basic_block());
        variable.erase_from_basic_block();
    }
    Ok(())
}

/// Where control comes from.
struct ControlFlow<'ctx> {
    /// The blocks that lead to a block, as often as they do.
    predecessors: HashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>>,
    /// The blocks that control reaches.
    reached: HashSet<BasicBlock<'ctx>>,
}

impl<'ctx> ControlFlow<'ctx> {
    fn of_function(function: FunctionValue<'ctx>) -> ControlFlow<'ctx> {
        let mut predecessors: HashMap<_, Vec<_>> = HashMap::new();
        for block in function.get_basic_blocks() {
            successors(block).for_each(|target| predecessors.entry(target).or_default().push(block));
        }
        let mut pending: Vec<_> = function.get_first_basic_block().into_iter().collect();
        let mut reached = HashSet::new();
        while let Some(block) = pending.pop() {
            if reached.insert(block) {
                pending.extend(successors(block));
            }
        }
        ControlFlow { predecessors, reached }
    }

    fn predecessors_of(&self, block: BasicBlock<'ctx>) -> &[BasicBlock<'ctx>] {
        self.predecessors.get(&block).map_or(&[], Vec::as_slice)
    }
}

/// The variables that can be promoted and live in few blocks, with the types of their values.
fn find_short_lived_variables<'ctx>(
    function: FunctionValue<'ctx>,
    flow: &ControlFlow<'ctx>,
) -> Vec<(InstructionValue<'ctx>, BasicTypeEnum<'ctx>)> {
    let candidates: Vec<_> =
        list_variables(function).filter_map(|variable| Some((variable, find_promoted_type(variable)?))).collect();
    let mut first_accesses: HashMap<LLVMValueRef, FirstAccesses<'ctx>> =
        candidates.iter().map(|(variable, _)| (variable.as_value_ref(), HashMap::new())).collect();
    for block in function.get_basic_blocks() {
        for instruction in block.get_instructions() {
            let Some((access, variable)) = find_access(instruction) else { continue };
            if let Some(accesses) = first_accesses.get_mut(&variable) {
                accesses.entry(block).or_insert(access);
            }
        }
    }
    let is_short_lived =
        |variable: &InstructionValue<'ctx>| lives_in_few_blocks(&first_accesses[&variable.as_value_ref()], flow);
    candidates.into_iter().filter(|(variable, _)| is_short_lived(variable)).collect()
}

/// What an instruction does to a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    /// What was there is no more; where the variable's life begins, nothing is.
    Write,
}

/// What each block that accesses a variable does to it first.
type FirstAccesses<'ctx> = HashMap<BasicBlock<'ctx>, Access>;

/// Whether few blocks begin with a value of a variable that they or others read.
fn lives_in_few_blocks<'ctx>(first_accesses: &FirstAccesses<'ctx>, flow: &ControlFlow<'ctx>) -> bool {
    let reading = |(&block, &access): (&BasicBlock<'ctx>, &Access)| (access == Access::Read).then_some(block);
    let mut pending: Vec<BasicBlock<'ctx>> = first_accesses.iter().filter_map(reading).collect();
    let mut live_blocks: HashSet<BasicBlock<'ctx>> = pending.iter().copied().collect();
    while let Some(block) = pending.pop() {
        if live_blocks.len() > MOST_LIVE_BLOCKS {
            return false;
        }
        for &predecessor in flow.predecessors_of(block) {
            if !first_accesses.contains_key(&predecessor) && live_blocks.insert(predecessor) {
                pending.push(predecessor);
            }
        }
    }
    live_blocks.len() <= MOST_LIVE_BLOCKS
}

/// What an instruction does to a variable, or whatever else it has the address of.
fn find_access(instruction: InstructionValue<'_>) -> Option<(Access, LLVMValueRef)> {
    let (access, address_index) = match instruction.get_opcode() {
        InstructionOpcode::Load => (Access::Read, 0),
        InstructionOpcode::Store => (Access::Write, 1),
        InstructionOpcode::Call if begins_lifetime(instruction) => (Access::Write, 0),
        _ => return None,
    };
    Some((access, value_operand(instruction, address_index)?.as_value_ref()))
}

/// The type of a variable's value; none: it is not only read and written as a whole, or written once, which LLVM promotes as fast.
fn find_promoted_type(variable: InstructionValue<'_>) -> Option<BasicTypeEnum<'_>> {
    let ty = find_plain_type(variable)?;
    let users = list_users(variable);
    let is_promotable = |&user: &InstructionValue<'_>| is_lifetime_marker(user) || is_whole_access(user, variable, ty);
    let write_count = users.iter().filter(|user| user.get_opcode() == InstructionOpcode::Store).count();
    (write_count > 1 && users.iter().all(is_promotable)).then_some(ty)
}

/// A variable's type if it is one of numbers, addresses or vectors of those: of others, as that of events, inkwell knows nothing.
fn find_plain_type(variable: InstructionValue<'_>) -> Option<BasicTypeEnum<'_>> {
    use llvm_sys::LLVMTypeKind::{
        LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMHalfTypeKind, LLVMIntegerTypeKind, LLVMPointerTypeKind,
        LLVMVectorTypeKind,
    };
    // SAFETY: the instruction is alive and allocates; a type lives as long as its context, and inkwell knows those of these kinds.
    unsafe {
        let raw_type = LLVMGetAllocatedType(variable.as_value_ref());
        match LLVMGetTypeKind(raw_type) {
            LLVMIntegerTypeKind | LLVMHalfTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind | LLVMPointerTypeKind
            | LLVMVectorTypeKind => Some(BasicTypeEnum::new(raw_type)),
            _ => None,
        }
    }
}

/// Whether an instruction that uses a variable reads or writes all of it.
fn is_whole_access(instruction: InstructionValue<'_>, variable: InstructionValue<'_>, ty: BasicTypeEnum<'_>) -> bool {
    let raw_access = instruction.as_value_ref();
    let accessed = match instruction.get_opcode() {
        InstructionOpcode::Load => raw_access,
        // SAFETY: the instruction is alive; a store's first operand is what it writes.
        InstructionOpcode::Store => unsafe { LLVMGetOperand(raw_access, 0) },
        _ => return false,
    };
    // SAFETY: the value is alive.
    let has_type = unsafe { LLVMTypeOf(accessed) } == ty.as_type_ref();
    has_type && accessed != variable.as_value_ref() && require_plain_access(instruction).is_some()
}

/// A read of a variable that no access before it in its block answers.
#[derive(Clone, Copy)]
struct ExposedRead<'ctx> {
    load: InstructionValue<'ctx>,
    place: Place<'ctx>,
}

/// A variable at one end of a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place<'ctx> {
    block: BasicBlock<'ctx>,
    variable: LLVMValueRef,
}

/// What is known of the variables of a function.
struct Promotion<'ctx> {
    builder: Builder<'ctx>,
    types: HashMap<LLVMValueRef, BasicTypeEnum<'ctx>>,
    flow: ControlFlow<'ctx>,
    /// What variables are where the paths into a block meet.
    entry_values: HashMap<Place<'ctx>, BasicValueEnum<'ctx>>,
    /// What they are behind a block that accesses them.
    exit_values: HashMap<Place<'ctx>, BasicValueEnum<'ctx>>,
    /// What stands for reads, which others may have noted as what is written.
    replaced_reads: HashMap<LLVMValueRef, BasicValueEnum<'ctx>>,
    /// All reads and writes. They stay until the end, as what is made meanwhile would get their addresses.
    accesses: Vec<InstructionValue<'ctx>>,
    phis: Vec<PhiValue<'ctx>>,
    unfilled_phis: Vec<(PhiValue<'ctx>, Place<'ctx>)>,
}

impl<'ctx> Promotion<'ctx> {
    fn new(
        builder: Builder<'ctx>,
        flow: ControlFlow<'ctx>,
        variables: &[(InstructionValue<'ctx>, BasicTypeEnum<'ctx>)],
    ) -> Promotion<'ctx> {
        Promotion {
            builder,
            types: variables.iter().map(|&(variable, ty)| (variable.as_value_ref(), ty)).collect(),
            flow,
            entry_values: HashMap::new(),
            exit_values: HashMap::new(),
            replaced_reads: HashMap::new(),
            accesses: Vec::new(),
            phis: Vec::new(),
            unfilled_phis: Vec::new(),
        }
    }

    /// Replaces reads that an access of the same block answers, and those that control never reaches. The other reads.
    fn resolve_within_blocks(&mut self, function: FunctionValue<'ctx>) -> Vec<ExposedRead<'ctx>> {
        let mut exposed_reads = Vec::new();
        for block in function.get_basic_blocks() {
            let is_reached = self.flow.reached.contains(&block);
            for instruction in block.get_instructions() {
                let Some((access, variable)) = find_access(instruction) else { continue };
                let Some(&ty) = self.types.get(&variable) else { continue };
                let place = Place { block, variable };
                self.accesses.push(instruction);
                match (access, self.exit_values.get(&place).copied()) {
                    (Access::Read, _) if !is_reached => replace_uses(instruction, undefined(ty)),
                    (Access::Read, Some(value)) => self.replace_read(instruction, value),
                    (Access::Read, None) => {
                        self.exit_values.insert(place, value_of(instruction));
                        exposed_reads.push(ExposedRead { load: instruction, place });
                    }
                    (Access::Write, _) if !is_reached => {}
                    (Access::Write, _) => {
                        let is_store = instruction.get_opcode() == InstructionOpcode::Store;
                        let written = value_operand(instruction, 0).filter(|_| is_store);
                        self.exit_values.insert(place, written.unwrap_or_else(|| undefined(ty)));
                    }
                }
            }
        }
        exposed_reads
    }

    fn replace_exposed_read(&mut self, read: ExposedRead<'ctx>) -> Result<(), BuilderError> {
        let value = self.find_entry_value(read.place)?;
        self.replace_read(read.load, value);
        Ok(())
    }

    fn replace_read(&mut self, load: InstructionValue<'ctx>, value: BasicValueEnum<'ctx>) {
        // The value may be a read that has been replaced since it was written.
        let value = self.resolve(value);
        self.replaced_reads.insert(load.as_value_ref(), value);
        replace_uses(load, value);
    }

    /// What a variable is where a block begins that control reaches.
    fn find_entry_value(&mut self, place: Place<'ctx>) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        let Place { mut block, variable } = place;
        let mut passed_blocks = Vec::new();
        let value = loop {
            if let Some(&value) = self.entry_values.get(&Place { block, variable }) {
                break value;
            }
            match self.flow.predecessors_of(block) {
                // Control starts here: nothing was written on the way.
                [] => break undefined(self.types[&variable]),
                [first, others @ ..] if others.iter().any(|other| other != first) => {
                    break self.place_phi(Place { block, variable })?;
                }
                &[predecessor, ..] => {
                    passed_blocks.push(block);
                    if let Some(&value) = self.exit_values.get(&Place { block: predecessor, variable }) {
                        break value;
                    }
                    block = predecessor;
                }
            }
        };
        let value = self.resolve(value);
        self.entry_values.extend(passed_blocks.into_iter().map(|block| (Place { block, variable }, value)));
        Ok(value)
    }

    /// What a value is: what stands for it where it is a read.
    fn resolve(&self, mut value: BasicValueEnum<'ctx>) -> BasicValueEnum<'ctx> {
        while let Some(&replacement) = self.replaced_reads.get(&value.as_value_ref()) {
            value = replacement;
        }
        value
    }

    /// A φ without arguments yet.
    fn place_phi(&mut self, place: Place<'ctx>) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        if let Some(first_instruction) = place.block.get_first_instruction() {
            self.builder.position_before(&first_instruction);
        }
        let phi = self.builder.build_phi(self.types[&place.variable], "")?;
        self.entry_values.insert(place, phi.as_basic_value());
        self.phis.push(phi);
        self.unfilled_phis.push((phi, place));
        Ok(phi.as_basic_value())
    }

    fn fill_phis(&mut self) -> Result<(), BuilderError> {
        while let Some((phi, Place { block, variable })) = self.unfilled_phis.pop() {
            for predecessor in self.flow.predecessors_of(block).to_vec() {
                let place = Place { block: predecessor, variable };
                let value = match self.exit_values.get(&place) {
                    _ if !self.flow.reached.contains(&predecessor) => undefined(self.types[&variable]),
                    Some(&value) => self.resolve(value),
                    None => self.find_entry_value(place)?,
                };
                phi.add_incoming(&[(&value, predecessor)]);
            }
        }
        Ok(())
    }

    /// Takes out φs whose arguments are one value and the φ itself, until there are none.
    fn remove_redundant_phis(self) {
        let mut pending: Vec<LLVMValueRef> = self.phis.iter().map(|phi| phi.as_value_ref()).collect();
        let mut phis: HashMap<LLVMValueRef, PhiValue<'ctx>> = pending.iter().copied().zip(self.phis).collect();
        while let Some(raw_phi) = pending.pop() {
            let Some(&phi) = phis.get(&raw_phi) else { continue };
            let Some(value) = find_only_argument(phi) else { continue };
            let users = list_users(phi.as_instruction()).into_iter().map(|user| user.as_value_ref());
            pending.extend(users.filter(|&user| user != raw_phi));
            phis.remove(&raw_phi);
            replace_uses(phi.as_instruction(), value);
            phi.as_instruction().erase_from_basic_block();
        }
    }
}

/// The one value that all arguments of a φ are, but for the φ itself.
fn find_only_argument(phi: PhiValue<'_>) -> Option<BasicValueEnum<'_>> {
    let mut others =
        phi.get_incomings().map(|(value, _)| value).filter(|value| value.as_value_ref() != phi.as_value_ref());
    let first = others.next()?;
    others.all(|other| other == first).then_some(first)
}

/// What a load reads.
fn value_of(load: InstructionValue<'_>) -> BasicValueEnum<'_> {
    // SAFETY: the load is alive, and has a value.
    unsafe { BasicValueEnum::new(load.as_value_ref()) }
}

fn replace_uses<'ctx>(instruction: InstructionValue<'ctx>, value: BasicValueEnum<'ctx>) {
    // SAFETY: both are alive and of one type.
    unsafe { LLVMReplaceAllUsesWith(instruction.as_value_ref(), value.as_value_ref()) };
}

/// The value of a variable that was not written.
fn undefined(ty: BasicTypeEnum<'_>) -> BasicValueEnum<'_> {
    // SAFETY: the type is alive, and the value of it.
    unsafe { BasicValueEnum::new(LLVMGetUndef(ty.as_type_ref())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;
    use inkwell::values::AnyValue;
    use lockstep_ir::testing::Random;
    use std::fmt::Write;

    const VARIABLES: usize = 3;

    /// A function of blocks in any order that read and write variables, show what they read, and lead anywhere. One of them may use
    /// what another one read, if that is valid.
    fn random_function(random: &mut Random) -> String {
        let block_count = 2 + random.below(9);
        let mut blocks = Vec::new();
        let mut read_names: Vec<String> = Vec::new();
        for block in 0..block_count {
            let mut text = format!("b{block}:\n");
            for step in 0..random.below(5) {
                let (from, to) = (random.below(VARIABLES), random.below(VARIABLES));
                let name = format!("%x{block}.{step}");
                let line = match random.below(9) {
                    0 => format!("call void @llvm.lifetime.start.p0(ptr %v{to})"),
                    1 | 2 => format!("store i32 {}, ptr %v{to}", random.below(1000)),
                    3 | 4 => format!("{name} = load i32, ptr %v{from}\n  store i32 {name}, ptr %v{to}"),
                    _ => format!("{name} = load i32, ptr %v{from}\n  call void @show(i32 {name})"),
                };
                if line.starts_with('%') {
                    read_names.push(name);
                }
                writeln!(text, "  {line}").expect("grows");
            }
            if block == block_count / 2 && !read_names.is_empty() && random.percent(60) {
                let name = &read_names[random.below(read_names.len())];
                writeln!(text, "  store i32 {name}, ptr %v{}", random.below(VARIABLES)).expect("grows");
            }
            let mut target = || random.below(block_count);
            let line = match target() % 4 {
                0 => "ret void".to_owned(),
                1 => format!("br label %b{}", target()),
                _ => {
                    let [default, first, second] = [target(), target(), target()];
                    format!("switch i32 %n, label %b{default} [i32 0, label %b{first} i32 1, label %b{second}]")
                }
            };
            writeln!(text, "  {line}").expect("grows");
            blocks.insert(random.below(blocks.len() + 1), text);
        }
        let variables = (0..VARIABLES).map(|variable| format!("  %v{variable} = alloca i32\n"));
        format!(
            "declare void @show(i32)\ndeclare void @llvm.lifetime.start.p0(ptr)\ndefine void @f(i32 %n) {{\nentry:\n{}  br label %b0\n{}}}\n",
            variables.collect::<String>(),
            blocks.concat()
        )
    }

    /// What a function shows on its way along the successors of these indices. Without a value: it is not defined.
    fn run_along(function: FunctionValue<'_>, choices: &[usize]) -> Vec<Option<i64>> {
        let (mut shown, mut values, mut memory) = (Vec::new(), HashMap::new(), HashMap::new());
        let mut previous = None;
        let mut block = function.get_first_basic_block().expect("it has one");
        for &choice in choices {
            let read = |values: &HashMap<LLVMValueRef, Option<i64>>, value: BasicValueEnum<'_>| {
                let constant = value.into_int_value().get_sign_extended_constant();
                values.get(&value.as_value_ref()).copied().unwrap_or(constant)
            };
            let mut phi_values = Vec::new();
            for instruction in block.get_instructions() {
                match instruction.get_opcode() {
                    InstructionOpcode::Phi => {
                        let phi = PhiValue::try_from(instruction).expect("it is one");
                        let (value, _) =
                            phi.get_incomings().find(|&(_, from)| Some(from) == previous).expect("came from there");
                        phi_values.push((phi.as_value_ref(), read(&values, value)));
                        continue;
                    }
                    InstructionOpcode::Load => {
                        let address = value_operand(instruction, 0).expect("has one").as_value_ref();
                        values.insert(instruction.as_value_ref(), memory.get(&address).copied().flatten());
                    }
                    InstructionOpcode::Store => {
                        let address = value_operand(instruction, 1).expect("has one").as_value_ref();
                        values.extend(std::mem::take(&mut phi_values));
                        memory.insert(address, read(&values, value_operand(instruction, 0).expect("has one")));
                    }
                    InstructionOpcode::Call if begins_lifetime(instruction) => {
                        memory.insert(value_operand(instruction, 0).expect("has one").as_value_ref(), None);
                    }
                    InstructionOpcode::Call => {
                        values.extend(std::mem::take(&mut phi_values));
                        shown.push(read(&values, value_operand(instruction, 0).expect("has one")));
                    }
                    _ => {}
                }
            }
            values.extend(phi_values);
            let targets: Vec<_> = successors(block).collect();
            let Some(&target) = targets.get(choice % targets.len().max(1)) else { break };
            previous = Some(std::mem::replace(&mut block, target));
        }
        shown
    }

    #[test]
    fn promoted_variables_are_what_was_written_last() {
        let (mut promoted, mut defined) = (0, 0);
        for seed in 0..1000 {
            let mut random = Random::new(seed);
            let text = random_function(&mut random);
            let context = Context::create();
            let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "f");
            let module = context.create_module_from_ir(buffer).expect("the text is a module");
            if module.verify().is_err() {
                // A block uses what another one has not read.
                continue;
            }
            let function = module.get_function("f").expect("it is there");
            let paths: Vec<Vec<usize>> = (0..20).map(|_| (0..30).map(|_| random.below(60)).collect()).collect();
            let before: Vec<_> = paths.iter().map(|path| run_along(function, path)).collect();
            let variable_count = list_variables(function).count();
            promote_function_variables(&module, function).expect("it can be done");
            module.verify().unwrap_or_else(|error| panic!("{error}\n{text}"));
            promoted += variable_count - list_variables(function).count();
            for (path, expected) in paths.iter().zip(before) {
                let shown = run_along(function, path);
                assert_eq!(shown.len(), expected.len(), "{text}");
                for (shown, expected) in shown.into_iter().zip(expected) {
                    defined += usize::from(expected.is_some());
                    assert!(
                        expected.is_none() || shown == expected,
                        "{shown:?} and not {expected:?} on {path:?}:\n{text}"
                    );
                }
            }
        }
        assert!(promoted > 600 && defined > 20_000, "{promoted} variables, {defined} values");
    }

    #[test]
    fn variables_that_are_more_than_values_stay() {
        let text = "declare void @take(ptr)
define void @f(i1 %c, ptr %out) {
entry:
  %plain = alloca i32
  %volatile = alloca i32
  %taken = alloca i32
  %written.once = alloca i32
  %narrow = alloca i32
  %row = alloca [2 x i32]
  store i32 1, ptr %plain
  store volatile i32 1, ptr %volatile
  store i32 1, ptr %taken
  store i32 1, ptr %written.once
  store i32 1, ptr %narrow
  store i32 1, ptr %row
  br i1 %c, label %then, label %end
then:
  store i32 2, ptr %plain
  store i32 2, ptr %volatile
  store i32 2, ptr %taken
  store i8 2, ptr %narrow
  store i32 2, ptr %row
  call void @take(ptr %taken)
  br label %end
end:
  %x = load i32, ptr %plain
  store i32 %x, ptr %out
  ret void
}
";
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "f");
        let module = context.create_module_from_ir(buffer).expect("the text is a module");
        let function = module.get_function("f").expect("it is there");
        promote_function_variables(&module, function).expect("it can be done");
        let names = list_variables(function).map(|variable| variable.get_name().map(|name| name.to_bytes().to_vec()));
        let names: Vec<String> =
            names.map(|name| String::from_utf8(name.unwrap_or_default()).expect("is text")).collect();
        assert_eq!(names, ["volatile", "taken", "written.once", "narrow", "row"]);
        let body = function.print_to_string().to_string();
        assert!(body.contains("phi i32 [ 1, %entry ], [ 2, %then ]"), "{body}");
    }

    #[test]
    fn variables_that_live_long_stay() {
        // The block that reads it is one of those in which it lives.
        for (block_count, stays) in [(MOST_LIVE_BLOCKS - 1, false), (MOST_LIVE_BLOCKS, true)] {
            let chain = (0..block_count).map(|block| format!("b{block}: br label %b{}\n", block + 1));
            let text = format!(
                "define i32 @f() {{\n %v = alloca i32\n store i32 1, ptr %v\n store i32 2, ptr %v\n br label %b0\n{}\
                 b{block_count}: %x = load i32, ptr %v\n ret i32 %x\n}}\n",
                chain.collect::<String>()
            );
            let context = Context::create();
            let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "f");
            let module = context.create_module_from_ir(buffer).expect("the text is a module");
            let function = module.get_function("f").expect("it is there");
            promote_function_variables(&module, function).expect("it can be done");
            assert_eq!(list_variables(function).count(), usize::from(stays), "{block_count} blocks");
        }
    }
}
