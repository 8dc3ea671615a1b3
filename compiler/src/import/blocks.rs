//! A kernel's body: blocks, block parameters and terminators.

use super::emit::{Body, Lanes, operand_of};
use super::error::{Attempt, ImportError, Reason, refuse};
use super::llvm::{Block as LlvmBlock, Value as LlvmValue};
use super::module_builder::ModuleBuilder;
use super::signature::Signature;
use super::types::leaf_scalars;
use super::{calls, instructions, memory};
use cranelift_entity::{PrimaryMap, SecondaryMap};
use llvm_sys::LLVMOpcode;
use lockstep_ir::ir::{BlockCall, InstData, Kernel, Region, Terminator};
use lockstep_protocol::parameters::{Input, Param, ParamKind};
use lockstep_protocol::types::Type;
use std::collections::{HashMap, HashSet};

/// Imports one kernel.
pub(super) fn import_kernel<'m>(
    module_builder: &mut ModuleBuilder<'m>,
    function: LlvmValue<'m>,
    signature: Signature,
) -> Result<Kernel, ImportError> {
    let mut kernel_body = Body::new(module_builder);
    let filled = add_kernel_inputs(&mut kernel_body, function, &signature.params)
        .and_then(|inputs| fill_body(&mut kernel_body, function).map(|()| inputs));
    let mut inputs = filled.map_err(|Reason(reason)| error_in(&kernel_body, function, reason))?;
    inputs.append(&mut kernel_body.image_inputs);
    let Body { function: func, slots, locals, .. } = kernel_body;
    let mut regions: PrimaryMap<Region, _> = PrimaryMap::new();
    regions.push(func);
    Ok(Kernel {
        name: function.name(),
        params: signature.params,
        args_size: signature.args_size,
        inputs,
        slots,
        locals,
        live: PrimaryMap::new(),
        regions,
        combines: SecondaryMap::new(),
        results: Vec::new(),
        attrs: signature.attrs,
        definition: function.definition(),
    })
}

/// What is wrong with a function, with the place of what is being imported.
pub(super) fn error_in<'m>(kernel_body: &Body<'_, 'm>, function: LlvmValue<'m>, reason: String) -> ImportError {
    let line = match kernel_body.location.line {
        0 => function.function_line(),
        line => line,
    };
    ImportError { reason, function: function.name(), line }
}

/// Imports the blocks of a function whose parameters are known.
pub(super) fn fill_body<'m>(kernel_body: &mut Body<'_, 'm>, function: LlvmValue<'m>) -> Attempt<()> {
    let block_order = reverse_postorder(function);
    let Some(&first_block) = block_order.first() else {
        refuse!("the function has no body");
    };
    let entry_block = kernel_body.at;
    kernel_body.blocks.insert(first_block, entry_block);
    for &llvm_block in &block_order[1..] {
        let own_block = kernel_body.function.add_block();
        kernel_body.blocks.insert(llvm_block, own_block);
    }
    let mut phis = HashMap::new();
    for &llvm_block in &block_order {
        phis.insert(llvm_block, add_parameters(kernel_body, llvm_block)?);
    }
    let mut trapped = HashSet::new();
    for &llvm_block in &block_order {
        kernel_body.at = kernel_body.blocks[&llvm_block];
        if instructions::import_block(kernel_body, llvm_block)? {
            trapped.insert(llvm_block);
        }
    }
    for &llvm_block in &block_order {
        let terminator = if trapped.contains(&llvm_block) {
            if kernel_body.called.is_some() {
                refuse!("a trap in a function that is called");
            }
            Terminator::Return
        } else {
            import_terminator(kernel_body, llvm_block, &phis)?
        };
        let own_block = kernel_body.blocks[&llvm_block];
        kernel_body.function.blocks[own_block].terminator = terminator;
        kernel_body.function.end_locs[own_block] = kernel_body.location;
    }
    let prelude = std::mem::take(&mut kernel_body.prelude);
    kernel_body.function.blocks[entry_block].insts.splice(0..0, prelude);
    Ok(())
}

/// Where a block goes on: nowhere behind a trap, from which LLVM lets a jump lead to one block that nothing reaches.
fn list_next_blocks(llvm_block: LlvmBlock<'_>) -> Vec<LlvmBlock<'_>> {
    if ends_in_trap(llvm_block) { Vec::new() } else { llvm_block.successors() }
}

/// Whether the last instruction before the terminator ends the work-item.
fn ends_in_trap(llvm_block: LlvmBlock<'_>) -> bool {
    let is_call = |instruction: &LlvmValue<'_>| instruction.opcode() == Some(LLVMOpcode::LLVMCall);
    llvm_block.last_before_terminator().filter(is_call).is_some_and(calls::is_trap)
}

/// The blocks that the entry reaches, each before those it dominates.
pub(super) fn reverse_postorder(function: LlvmValue<'_>) -> Vec<LlvmBlock<'_>> {
    let Some(entry) = function.entry_block() else {
        return Vec::new();
    };
    let mut visited = HashSet::from([entry]);
    let mut block_order = Vec::new();
    // The last successor is followed first, so that the blocks come in the order of the source.
    let mut block_stack = vec![(entry, list_next_blocks(entry).into_iter().rev())];
    while let Some((llvm_block, successors)) = block_stack.last_mut() {
        match successors.next() {
            Some(next) => {
                if visited.insert(next) {
                    block_stack.push((next, list_next_blocks(next).into_iter().rev()));
                }
            }
            None => {
                block_order.push(*llvm_block);
                block_stack.pop();
            }
        }
    }
    block_order.reverse();
    block_order
}

/// A kernel's inputs, the parameters of its entry: the scalars of each argument that is used.
fn add_kernel_inputs<'m>(
    kernel_body: &mut Body<'_, 'm>,
    function: LlvmValue<'m>,
    parameters: &[Param],
) -> Attempt<Vec<(Input, Type)>> {
    let entry_block = kernel_body.at;
    let mut inputs = Vec::new();
    for (index, argument) in function.params().into_iter().enumerate() {
        if !argument.is_used() {
            continue;
        }
        let parameter_index = index as u32;
        if parameters[index].kind == ParamKind::Image {
            // Its fields become inputs where they are asked for.
            kernel_body.images.insert(argument, parameter_index);
            continue;
        }
        if function.byval_type(parameter_index).is_some() {
            let [scalar_type] = kernel_body.leaf_types(argument.ty())?[..] else {
                refuse!("argument {index} by value is not a pointer");
            };
            let address = kernel_body.function.add_param(entry_block, scalar_type);
            inputs.push((Input::Address { param: parameter_index }, scalar_type));
            let address = memory::argument_copy(kernel_body, argument, address, &parameters[index])?;
            kernel_body.values.insert(argument, Lanes::from([address]));
            continue;
        }
        let mut lanes = Vec::new();
        for leaf in leaf_scalars(kernel_body.module.llvm, argument.ty())? {
            if !leaf.is_plain() {
                refuse!("argument {index} is of type {}", argument.ty().spelling());
            }
            lanes.push(kernel_body.function.add_param(entry_block, leaf.ty));
            let offset = leaf.offset() as u32;
            inputs.push((Input::Value { param: parameter_index, offset }, leaf.ty));
        }
        kernel_body.values.insert(argument, lanes.into());
    }
    Ok(inputs)
}

/// For each phi of a block, its value for each predecessor. A switch with several edges to one block repeats its
/// entry, always with the same value.
type Phis<'m> = Vec<HashMap<LlvmBlock<'m>, LlvmValue<'m>>>;

/// A block's parameters: the scalars of each of its phis.
fn add_parameters<'m>(kernel_body: &mut Body<'_, 'm>, llvm_block: LlvmBlock<'m>) -> Attempt<Phis<'m>> {
    let own_block = kernel_body.blocks[&llvm_block];
    let mut block_phis = Phis::new();
    for phi in llvm_block.instructions().take_while(|instruction| instruction.opcode() == Some(LLVMOpcode::LLVMPHI)) {
        kernel_body.location = phi.debug_location();
        let types = kernel_body.leaf_types(phi.ty())?;
        let params = types.into_iter().map(|scalar_type| kernel_body.function.add_param(own_block, scalar_type));
        let lanes: Lanes = params.collect();
        kernel_body.values.insert(phi, lanes);
        block_phis.push(phi.incoming_values().into_iter().collect());
    }
    Ok(block_phis)
}

fn import_terminator<'m>(
    kernel_body: &mut Body<'_, 'm>,
    llvm_block: LlvmBlock<'m>,
    phis: &HashMap<LlvmBlock<'m>, Phis<'m>>,
) -> Attempt<Terminator> {
    let Some(instruction) = llvm_block.terminator() else {
        refuse!("a block without an end");
    };
    kernel_body.location = instruction.debug_location();
    kernel_body.at = kernel_body.blocks[&llvm_block];
    let successors = llvm_block.successors();
    let mut block_calls = HashMap::new();
    for &to in &successors {
        if let std::collections::hash_map::Entry::Vacant(vacant_entry) = block_calls.entry(to) {
            vacant_entry.insert(import_jump(kernel_body, llvm_block, to, &phis[&to])?);
        }
    }
    let block_call = |index: usize| match successors.get(index) {
        Some(to) => Ok(block_calls[to].clone()),
        None => Err(Reason(format!("{} without a target", instruction.text()))),
    };
    match instruction.opcode() {
        Some(LLVMOpcode::LLVMRet) if instruction.num_operands() == 0 => Ok(Terminator::Return),
        Some(LLVMOpcode::LLVMRet) => {
            set_results(kernel_body, operand_of(instruction, 0)?)?;
            Ok(Terminator::Return)
        }
        Some(LLVMOpcode::LLVMUnreachable) => Ok(Terminator::Unreachable),
        Some(LLVMOpcode::LLVMBr) => match instruction.branch_condition() {
            None => Ok(Terminator::Jump(block_call(0)?)),
            Some(condition) => Ok(Terminator::Branch {
                condition: kernel_body.scalar_of(condition)?,
                then_to: block_call(0)?,
                else_to: block_call(1)?,
            }),
        },
        Some(LLVMOpcode::LLVMSwitch) => {
            let mut cases = Vec::new();
            for index in 1..successors.len() {
                let case_bits = instruction.switch_case(index as u32).and_then(|llvm_value| llvm_value.int_bits());
                match case_bits {
                    Some(case_bits) => cases.push((case_bits, block_call(index)?)),
                    None => refuse!("a switch on an integer of more than 128 bits"),
                }
            }
            Ok(Terminator::Switch {
                value: kernel_body.scalar_operand(instruction, 0)?,
                cases,
                default: block_call(0)?,
            })
        }
        _ => refuse!("the instruction `{}`", instruction.text()),
    }
}

/// A jump from one block to another with the values of the target's phis.
fn import_jump<'m>(
    kernel_body: &mut Body<'_, 'm>,
    source_block: LlvmBlock<'m>,
    target_block: LlvmBlock<'m>,
    block_phis: &Phis<'m>,
) -> Attempt<BlockCall> {
    let mut arguments = Vec::new();
    for incoming in block_phis {
        match incoming.get(&source_block) {
            Some(&llvm_value) => arguments.extend_from_slice(&kernel_body.lanes_of(llvm_value)?),
            None => refuse!("a phi misses a predecessor"),
        }
    }
    Ok(BlockCall { block: kernel_body.blocks[&target_block], arguments })
}

/// Sets what a function returns to its caller.
fn set_results<'m>(function_body: &mut Body<'_, 'm>, returned: LlvmValue<'m>) -> Attempt<()> {
    if function_body.called.is_none() {
        refuse!("a kernel that returns {}", returned.text());
    }
    let arguments = function_body.lanes_of(returned)?.to_vec();
    if !arguments.is_empty() {
        function_body.append_effect(InstData::SetResults { arguments });
    }
    Ok(())
}
