//! Calls: intrinsics, the primitives of the built-in library, printf, functions that stay functions; anything else is an error that
//! names the function.

use super::emit::{Body, Lanes};
use super::error::{Attempt, refuse};
use super::llvm::Value as LlvmValue;
use super::memory::copy_to_slot;
use super::module_builder::ImportedFunction;
use super::printf::Outcome;
use super::types::size_of;
use super::{intrinsics, printf};
use crate::machine_code::fuses_multiply_add;
use lockstep_ir::ir::{
    BinaryOp, Cluster, Collect, FastMath, InstData, IntCc, Query, SlotData, TernaryOp, UnaryOp, Value,
};
use lockstep_protocol::types::Type;

/// Whether a call ends the work-item at once.
pub(super) fn is_trap(instruction: LlvmValue<'_>) -> bool {
    let name = instruction.called_function().and_then(LlvmValue::intrinsic_name);
    matches!(name.as_deref(), Some("llvm.trap" | "llvm.ubsantrap"))
}

/// Imports a call.
pub(super) fn import_call<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let Some(callee) = instruction.called_function() else {
        refuse!("the instruction `{}`", instruction.text());
    };
    if callee.is_inline_asm() {
        refuse!("inline assembly is not supported");
    }
    if !callee.is_function() {
        refuse!("a call through a function pointer");
    }
    if let Some(name) = callee.intrinsic_name() {
        return intrinsics::import_intrinsic(kernel_body, instruction, &name);
    }
    let name = callee.name();
    if name == "__lockstep_fail" {
        return printf::import_printf(kernel_body, instruction, Outcome::Failure);
    }
    if let Some(primitive) = name.strip_prefix("__lockstep_") {
        return import_primitive(kernel_body, instruction, primitive);
    }
    let source_name = source_name(&name);
    if source_name == "printf" {
        return printf::import_printf(kernel_body, instruction, Outcome::Output);
    }
    if let Some(function) = kernel_body.module.functions.get(&callee) {
        return import_function_call(kernel_body, instruction, callee, function.clone());
    }
    if source_name == name {
        refuse!("the function {name} is not defined");
    }
    refuse!("the function {source_name} ({name}) is not defined");
}

/// The name that was mangled, without scopes and parameters.
pub(super) fn source_name(name: &str) -> &str {
    let Some(name_rest) = name.strip_prefix("_Z") else {
        return name;
    };
    let digit_count =
        name_rest.len() - name_rest.trim_start_matches(|character: char| character.is_ascii_digit()).len();
    let (length_text, text) = name_rest.split_at(digit_count);
    let plain_name = length_text.parse().ok().and_then(|name_length: usize| text.get(..name_length));
    plain_name.unwrap_or(name)
}

fn import_primitive<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, name: &str) -> Attempt<Lanes> {
    let arguments = instruction.call_args();
    if let Some(operation) = name.strip_prefix("collective_") {
        return import_collective(kernel_body, instruction, operation);
    }
    if let Some(operation) = name.strip_prefix("gang_") {
        return import_gang_operation(kernel_body, instruction, operation);
    }
    let result = match (name, &arguments[..]) {
        ("barrier", _) => {
            kernel_body.append_effect(InstData::Barrier);
            return Ok(Lanes::from([]));
        }
        ("address_space", &[pointer]) => {
            let pointer = kernel_body.scalar_of(pointer)?;
            kernel_body.unary(UnaryOp::SpaceOf, Type::I32, pointer)
        }
        ("image_u32" | "image_u64" | "image_pointer", &[image, offset]) => {
            let [scalar_type] = kernel_body.leaf_types(instruction.ty())?[..] else {
                refuse!("__lockstep_{name} does not return a scalar");
            };
            let offset = kernel_body.scalar_of(offset)?;
            let Some(offset) =
                kernel_body.function.const_bits(offset).and_then(|bit_pattern| u32::try_from(bit_pattern).ok())
            else {
                refuse!("__lockstep_{name} with an offset that is not known");
            };
            return Ok(Lanes::from([kernel_body.image_field(image, offset, scalar_type)?]));
        }
        (
            "recip_estimate" | "rsqrt_estimate" | "rsqrt_native" | "rsqrt_estimate_double" | "logb" | "significand",
            &[argument],
        ) => {
            let argument = kernel_body.scalar_of(argument)?;
            let (opcode, scalar_type) = match name {
                "recip_estimate" => (UnaryOp::RecipEstimate, Type::F32),
                "rsqrt_estimate" => (UnaryOp::RsqrtEstimate, Type::F32),
                "rsqrt_native" => (UnaryOp::RsqrtNative, Type::F32),
                "logb" => (UnaryOp::Logb, Type::F64),
                "significand" => (UnaryOp::Significand, Type::F64),
                _ => (UnaryOp::RsqrtEstimate, Type::F64),
            };
            if kernel_body.type_of(argument) != scalar_type {
                refuse!("the primitive __lockstep_{name} is not for {}", kernel_body.type_of(argument));
            }
            kernel_body.unary(opcode, scalar_type, argument)
        }
        ("quotient_estimate", &[x, y]) => {
            let arguments = [kernel_body.scalar_of(x)?, kernel_body.scalar_of(y)?];
            if let Some(&other_operand) = arguments.iter().find(|&&argument| kernel_body.type_of(argument) != Type::F32)
            {
                refuse!("the primitive __lockstep_{name} is not for {}", kernel_body.type_of(other_operand));
            }
            kernel_body.binary(BinaryOp::QuotientEstimate, arguments[0], arguments[1])
        }
        ("powered", &[x, n]) => {
            let arguments = [kernel_body.scalar_of(x)?, kernel_body.scalar_of(n)?];
            if let Some(&other_operand) = arguments.iter().find(|&&argument| kernel_body.type_of(argument) != Type::F64)
            {
                refuse!("the primitive __lockstep_{name} is not for {}", kernel_body.type_of(other_operand));
            }
            kernel_body.binary(BinaryOp::Powered, arguments[0], arguments[1])
        }
        ("scaled_float" | "scaled_double", &[x, y, n]) => {
            let scalar_type = if name == "scaled_float" { Type::F32 } else { Type::F64 };
            let arguments = [kernel_body.scalar_of(x)?, kernel_body.scalar_of(y)?, kernel_body.scalar_of(n)?];
            if let Some(&other_operand) =
                arguments.iter().find(|&&argument| kernel_body.type_of(argument) != scalar_type)
            {
                refuse!("the primitive __lockstep_{name} is not for {}", kernel_body.type_of(other_operand));
            }
            kernel_body.ternary(TernaryOp::Scaled, FastMath::default(), arguments)
        }
        // As the code generator takes the host's features, `fmuladd` is fused where the host can.
        ("fuses_sums", []) => kernel_body.function.constant(Type::I32, u128::from(fuses_multiply_add())),
        ("clock", []) => kernel_body.append_single(InstData::Clock, Type::I64),
        ("linear_id", []) => append_query(kernel_body, Query::LinearId, 0),
        ("work_dim", []) => append_query(kernel_body, Query::WorkDim, 0),
        (_, &[dimension]) => match Query::from_name(name) {
            Some(which) if !matches!(which, Query::WorkDim | Query::LinearId) => {
                let dimension = kernel_body.scalar_of(dimension)?;
                query_of(kernel_body, which, dimension)
            }
            _ => refuse!("the primitive __lockstep_{name} is not known"),
        },
        _ => refuse!("the primitive __lockstep_{name} is not known"),
    };
    match kernel_body.leaf_types(instruction.ty())?[..] {
        [scalar_type] if scalar_type.is_float() && scalar_type == kernel_body.type_of(result) => {
            Ok(Lanes::from([result]))
        }
        [scalar_type] if scalar_type.is_int() && kernel_body.type_of(result).is_int() => {
            Ok(Lanes::from([kernel_body.zext_or_trunc(scalar_type, result)]))
        }
        _ => refuse!("__lockstep_{name} does not return what it is"),
    }
}

/// A collective operation by its name: `reduce_add_int` is the sum of all work-items' operands. The last part only keeps
/// the names of functions of different types apart.
fn import_collective<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, name: &str) -> Attempt<Lanes> {
    let name_parts: Vec<&str> = name.split('_').collect();
    let (Some(collective), Some(opcode), [argument]) = (
        name_parts.first().and_then(|collective_name| Collect::from_name(collective_name)),
        name_parts.get(1).and_then(|opcode_name| BinaryOp::from_name(opcode_name)),
        &instruction.call_args()[..],
    ) else {
        refuse!("the primitive __lockstep_collective_{name} is not known");
    };
    let argument = kernel_body.scalar_of(*argument)?;
    let scalar_type = kernel_body.type_of(argument);
    if opcode.identity(scalar_type).is_none() {
        refuse!("the primitive __lockstep_collective_{name} is not for {scalar_type}");
    }
    Ok(Lanes::from([kernel_body.append_single(InstData::Collective { collective, opcode, argument }, scalar_type)]))
}

/// An operation of the lanes of a gang by its name: `shuffle_int`, `reduce_add_int`. The last part only keeps the names of
/// functions of different types apart.
fn import_gang_operation<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, name: &str) -> Attempt<Lanes> {
    let name_parts: Vec<&str> = name.split('_').collect();
    let arguments = instruction.call_args();
    let arguments = arguments.iter().map(|&argument| kernel_body.scalar_of(argument)).collect::<Attempt<Vec<_>>>()?;
    let (inst_data, scalar_type) = match (&name_parts[..], &arguments[..]) {
        (["barrier"], _) => {
            kernel_body.append_effect(InstData::GangBarrier);
            return Ok(Lanes::from([]));
        }
        (["ballot"], &[condition]) => (InstData::Ballot { condition }, Type::I64),
        (["shuffle", _], &[argument, lane_index]) => {
            let lane_index = kernel_body.zext_or_trunc(Type::I64, lane_index);
            (InstData::Shuffle { argument, lane: lane_index }, kernel_body.type_of(argument))
        }
        ([how, op, ..], &[argument, ref size @ ..]) => {
            let (Some(collective), Some(opcode)) = (Collect::from_name(how), BinaryOp::from_name(op)) else {
                refuse!("the primitive __lockstep_gang_{name} is not known");
            };
            let cluster = match size {
                [] => Cluster::GANG,
                // "clustersize must be an integer constant expression and a power-of-two"
                &[size, ..] => match kernel_body.function.const_bits(size).and_then(Cluster::with_lanes) {
                    Some(cluster) => cluster,
                    None => refuse!("the size of a cluster must be a constant power of two"),
                },
            };
            if opcode.identity(kernel_body.type_of(argument)).is_none() {
                refuse!("the primitive __lockstep_gang_{name} is not for {}", kernel_body.type_of(argument));
            }
            (InstData::Across { collective, opcode, cluster, argument }, kernel_body.type_of(argument))
        }
        _ => refuse!("the primitive __lockstep_gang_{name} is not known"),
    };
    Ok(Lanes::from([kernel_body.append_single(inst_data, scalar_type)]))
}

/// What a work-item is told; a function that is called asks its callers.
pub(super) fn append_query(kernel_body: &mut Body<'_, '_>, query: Query, dimension: u8) -> Value {
    let scalar_type = if query == Query::WorkDim { Type::I32 } else { Type::I64 };
    if let Some(called) = &mut kernel_body.called {
        if let Some(&(_, answer)) = called.asked.iter().find(|&&(asked, _)| asked == (query, dimension)) {
            return answer;
        }
        let entry_block = kernel_body.function.entry_block();
        let answer = kernel_body.function.add_param(entry_block, scalar_type);
        called.asked.push(((query, dimension), answer));
        return answer;
    }
    kernel_body.append_single(InstData::Query { query, dimension }, scalar_type)
}

/// What a query answers beyond the third dimension.
fn answer_beyond(asked_query: Query) -> u128 {
    match asked_query {
        Query::GlobalSize | Query::LocalSize | Query::EnqueuedLocalSize | Query::NumGroups => 1,
        Query::GlobalId | Query::LocalId | Query::LinearId => 0,
        Query::GroupId | Query::GlobalOffset | Query::WorkDim => 0,
    }
}

fn query_of(kernel_body: &mut Body<'_, '_>, query: Query, dimension: Value) -> Value {
    let value_beyond = kernel_body.int_constant(Type::I64, answer_beyond(query));
    if let Some(dimension) = kernel_body.function.const_bits(dimension) {
        return match u8::try_from(dimension) {
            Ok(dimension @ 0..=2) => append_query(kernel_body, query, dimension),
            _ => value_beyond,
        };
    }
    let mut answer = value_beyond;
    for d in (0..3).rev() {
        let value = append_query(kernel_body, query, d);
        let is_this = kernel_body.icmp_int(IntCc::Eq, dimension, u128::from(d));
        answer = kernel_body.select(is_this, value, answer);
    }
    answer
}

/// Imports a call of a function that was imported.
fn import_function_call<'m>(
    kernel_body: &mut Body<'_, 'm>,
    instruction: LlvmValue<'m>,
    function: LlvmValue<'m>,
    imported: ImportedFunction,
) -> Attempt<Lanes> {
    let mut arguments: Vec<Value> = Vec::new();
    for (index, (parameter, argument)) in (0..).zip(function.params().into_iter().zip(instruction.call_args())) {
        if !parameter.is_used() {
            continue;
        }
        match function.byval_type(index) {
            Some(byval_type) => {
                let byte_size = size_of(kernel_body.module.llvm, byval_type)?;
                let alignment = kernel_body.module.llvm.align_of(byval_type).unwrap_or(1);
                let address = kernel_body.scalar_of(argument)?;
                let slot = SlotData::new(byte_size.max(1), alignment.max(function.param_align(index)));
                let copy = copy_to_slot(kernel_body, address, slot);
                arguments.push(kernel_body.space_cast(kernel_body.type_of(address), copy));
            }
            None => arguments.extend_from_slice(&kernel_body.lanes_of(argument)?),
        }
    }
    for &(query, dimension) in &imported.asked {
        arguments.push(append_query(kernel_body, query, dimension));
    }
    let types = kernel_body.leaf_types(instruction.ty())?;
    Ok(kernel_body.append_many(InstData::Call { callee: imported.callee, arguments }, &types).into())
}
