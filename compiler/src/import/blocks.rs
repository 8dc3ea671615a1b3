//! A kernel's body: blocks, block parameters and terminators.

use super::emit::{Body, Lanes};
use super::error::{Attempt, ImportError, Reason, refuse};
use super::llvm::{Block as LlvmBlock, Value as LlvmValue};
use super::module_builder::ModuleBuilder;
use super::signature::Signature;
use super::types::leaf_scalars;
use super::{instructions, memory};
use cranelift_entity::{PrimaryMap, SecondaryMap};
use llvm_sys::LLVMOpcode;
use lockstep_ir::ir::{Block, BlockCall, Kernel, Region, SourceLoc, Terminator};
use lockstep_protocol::parameters::{Input, Param, ParamKind};
use lockstep_protocol::types::Type;
use std::collections::{HashMap, HashSet};

/// Imports one kernel.
pub(super) fn import_kernel<'m>(
    module: &mut ModuleBuilder<'m>,
    function: LlvmValue<'m>,
    signature: Signature,
) -> Result<Kernel, ImportError> {
    let mut body = Body::new(module);
    let inputs = match fill_body(&mut body, function, &signature.params) {
        Ok(inputs) => inputs,
        Err(Reason(reason)) => {
            return Err(ImportError {
                reason,
                function: function.name(),
                line: match body.location.line {
                    0 => function.function_line(),
                    line => line,
                },
            });
        }
    };
    let Body { function: func, slots, locals, .. } = body;
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
        attrs: signature.attrs,
    })
}

fn fill_body<'m>(body: &mut Body<'_, 'm>, function: LlvmValue<'m>, params: &[Param]) -> Attempt<Vec<(Input, Type)>> {
    let order = reverse_postorder(function);
    let Some(&first) = order.first() else {
        refuse!("the kernel has no body");
    };
    let entry = body.at;
    body.blocks.insert(first, entry);
    for &block in &order[1..] {
        let ours = body.function.add_block();
        body.blocks.insert(block, ours);
    }
    let mut inputs = add_inputs(body, function, params, entry)?;
    let mut phis = HashMap::new();
    for &block in &order {
        phis.insert(block, add_parameters(body, block)?);
    }
    let mut trapped = HashSet::new();
    for &block in &order {
        body.at = body.blocks[&block];
        if instructions::import_block(body, block)? {
            trapped.insert(block);
        }
    }
    for &block in &order {
        let terminator =
            if trapped.contains(&block) { Terminator::Return } else { import_terminator(body, block, &phis)? };
        let ours = body.blocks[&block];
        body.function.blocks[ours].terminator = terminator;
        body.function.end_locs[ours] = body.location;
    }
    let prelude = std::mem::take(&mut body.prelude);
    body.function.blocks[entry].insts.splice(0..0, prelude);
    inputs.append(&mut body.image_inputs);
    Ok(inputs)
}

/// The blocks that the entry reaches, each before those it dominates.
fn reverse_postorder(function: LlvmValue<'_>) -> Vec<LlvmBlock<'_>> {
    let Some(entry) = function.entry_block() else {
        return Vec::new();
    };
    let mut visited = HashSet::from([entry]);
    let mut order = Vec::new();
    // The last successor is followed first, so that the blocks come in the order of the source.
    let mut stack = vec![(entry, entry.successors().into_iter().rev())];
    while let Some((block, successors)) = stack.last_mut() {
        match successors.next() {
            Some(next) => {
                if visited.insert(next) {
                    stack.push((next, next.successors().into_iter().rev()));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// The entry's parameters: the scalars of each argument that is used.
fn add_inputs<'m>(
    body: &mut Body<'_, 'm>,
    function: LlvmValue<'m>,
    params: &[Param],
    entry: Block,
) -> Attempt<Vec<(Input, Type)>> {
    let mut inputs = Vec::new();
    for (index, argument) in function.params().into_iter().enumerate() {
        if !argument.is_used() {
            continue;
        }
        let param = index as u32;
        if params[index].kind == ParamKind::Image {
            // Its fields become inputs where they are asked for.
            body.images.insert(argument, param);
            continue;
        }
        if function.byval_type(param).is_some() {
            let [ty] = body.leaf_types(argument.ty())?[..] else {
                refuse!("argument {index} by value is not a pointer");
            };
            let address = body.function.add_param(entry, ty);
            inputs.push((Input::Address { param }, ty));
            let address = memory::argument_copy(body, argument, address, &params[index])?;
            body.values.insert(argument, Lanes::from([address]));
            continue;
        }
        let mut lanes = Vec::new();
        for leaf in leaf_scalars(body.module.llvm, argument.ty())? {
            if !leaf.is_plain() {
                refuse!("argument {index} is of type {}", argument.ty().spelling());
            }
            lanes.push(body.function.add_param(entry, leaf.ty));
            let offset = leaf.offset() as u32;
            inputs.push((Input::Value { param, offset }, leaf.ty));
        }
        body.values.insert(argument, lanes.into());
    }
    Ok(inputs)
}

/// For each phi of a block, its value for each predecessor. A switch with several edges to one block repeats its
/// entry, always with the same value.
type Phis<'m> = Vec<HashMap<LlvmBlock<'m>, LlvmValue<'m>>>;

/// A block's parameters: the scalars of each of its phis.
fn add_parameters<'m>(body: &mut Body<'_, 'm>, block: LlvmBlock<'m>) -> Attempt<Phis<'m>> {
    let ours = body.blocks[&block];
    let mut phis = Phis::new();
    for phi in block.instructions().take_while(|inst| inst.opcode() == Some(LLVMOpcode::LLVMPHI)) {
        body.location = source_location(phi);
        let types = body.leaf_types(phi.ty())?;
        let params = types.into_iter().map(|ty| body.function.add_param(ours, ty));
        let lanes: Lanes = params.collect();
        body.values.insert(phi, lanes);
        phis.push(phi.incoming_values().into_iter().collect());
    }
    Ok(phis)
}

/// An instruction's place in the source.
pub(super) fn source_location(instruction: LlvmValue<'_>) -> SourceLoc {
    let (line, column) = instruction.debug_location();
    SourceLoc { line, column }
}

fn import_terminator<'m>(
    body: &mut Body<'_, 'm>,
    block: LlvmBlock<'m>,
    phis: &HashMap<LlvmBlock<'m>, Phis<'m>>,
) -> Attempt<Terminator> {
    let Some(inst) = block.terminator() else {
        refuse!("a block without an end");
    };
    body.location = source_location(inst);
    body.at = body.blocks[&block];
    let successors = block.successors();
    let mut calls = HashMap::new();
    for &to in &successors {
        if let std::collections::hash_map::Entry::Vacant(entry) = calls.entry(to) {
            entry.insert(import_jump(body, block, to, &phis[&to])?);
        }
    }
    let call = |index: usize| match successors.get(index) {
        Some(to) => Ok(calls[to].clone()),
        None => Err(Reason(format!("{} without a target", inst.text()))),
    };
    match inst.opcode() {
        Some(LLVMOpcode::LLVMRet) if inst.num_operands() == 0 => Ok(Terminator::Return),
        Some(LLVMOpcode::LLVMUnreachable) => Ok(Terminator::Unreachable),
        Some(LLVMOpcode::LLVMBr) => match inst.branch_condition() {
            None => Ok(Terminator::Jump(call(0)?)),
            Some(condition) => {
                Ok(Terminator::Branch { condition: body.scalar_of(condition)?, then_to: call(0)?, else_to: call(1)? })
            }
        },
        Some(LLVMOpcode::LLVMSwitch) => {
            let mut cases = Vec::new();
            for index in 1..successors.len() {
                let bits = inst.switch_case(index as u32).and_then(|value| value.int_bits());
                match bits {
                    Some(bits) => cases.push((bits, call(index)?)),
                    None => refuse!("a switch on an integer of more than 128 bits"),
                }
            }
            Ok(Terminator::Switch { value: body.scalar_operand(inst, 0)?, cases, default: call(0)? })
        }
        _ => refuse!("the instruction `{}`", inst.text()),
    }
}

/// A jump from one block to another with the values of the target's phis.
fn import_jump<'m>(
    body: &mut Body<'_, 'm>,
    from: LlvmBlock<'m>,
    to: LlvmBlock<'m>,
    phis: &Phis<'m>,
) -> Attempt<BlockCall> {
    let mut arguments = Vec::new();
    for incoming in phis {
        match incoming.get(&from) {
            Some(&value) => arguments.extend_from_slice(&body.lanes_of(value)?),
            None => refuse!("a phi misses a predecessor"),
        }
    }
    Ok(BlockCall { block: body.blocks[&to], arguments })
}
