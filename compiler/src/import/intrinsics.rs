//! LLVM's intrinsic functions.

use super::emit::{Body, Lanes, map_lanes, map_typed_lanes, operand_of};
use super::error::{Attempt, refuse};
use super::llvm::Value as LlvmValue;
use super::{expand, memory};
use lockstep_ir::ir::{BinaryOp, FastMath, InstData, IntFlags, TernaryOp, UnaryOp, Value};
use lockstep_protocol::types::Type;

/// Imports a call of the intrinsic with this name (without type suffix).
pub(super) fn import_intrinsic<'m>(
    kernel_body: &mut Body<'_, 'm>,
    instruction: LlvmValue<'m>,
    name: &str,
) -> Attempt<Lanes> {
    let Some(short_name) = name.strip_prefix("llvm.") else {
        refuse!("the intrinsic {name}");
    };
    if let Some(opcode) = unary_op(short_name) {
        let fast_math = FastMath(instruction.fast_math());
        let arguments = kernel_body.operand_lanes(instruction, 0)?;
        return Ok(map_lanes(&arguments, |operand| {
            kernel_body.unary_fast(opcode, kernel_body.type_of(operand), fast_math, operand)
        }));
    }
    if let Some(opcode) = binary_op(short_name) {
        let fast_math = FastMath(instruction.fast_math());
        let wrap_flags = IntFlags::default();
        return import_binary(kernel_body, instruction, |kernel_body, left, right| {
            kernel_body.binary_with(opcode, wrap_flags, fast_math, left, right)
        });
    }
    if let Some(opcode) = ternary_op(short_name) {
        let fast_math = FastMath(instruction.fast_math());
        return import_ternary(kernel_body, instruction, opcode, fast_math);
    }
    if let Some(function) = host_function(short_name) {
        return import_host_call(kernel_body, instruction, function);
    }
    if let Some(reduction) = short_name.strip_prefix("vector.reduce.") {
        return expand::expand_reduction(kernel_body, instruction, reduction);
    }
    if is_ignored(short_name) {
        return Ok(Lanes::from([]));
    }
    match short_name {
        "expect"
        | "expect.with.probability"
        | "ssa.copy"
        | "launder.invariant.group"
        | "strip.invariant.group"
        | "annotation"
        | "ptr.annotation" => kernel_body.operand_lanes(instruction, 0),
        "fptosi.sat" => saturating_cast(kernel_body, instruction, UnaryOp::FpToSiSat),
        "fptoui.sat" => saturating_cast(kernel_body, instruction, UnaryOp::FpToUiSat),
        "lrint" | "llrint" => round_to_int(kernel_body, instruction, UnaryOp::Rint),
        "lround" | "llround" => round_to_int(kernel_body, instruction, UnaryOp::Round),
        "minimum" => expand::minimum_maximum(kernel_body, instruction, false, true),
        "maximum" => expand::minimum_maximum(kernel_body, instruction, true, true),
        "minimumnum" => expand::minimum_maximum(kernel_body, instruction, false, false),
        "maximumnum" => expand::minimum_maximum(kernel_body, instruction, true, false),
        "uadd.with.overflow" | "sadd.with.overflow" | "usub.with.overflow" | "ssub.with.overflow"
        | "umul.with.overflow" | "smul.with.overflow" => expand::with_overflow(kernel_body, instruction, short_name),
        "ushl.sat" => expand::shl_sat(kernel_body, instruction, false),
        "sshl.sat" => expand::shl_sat(kernel_body, instruction, true),
        "ucmp" => expand::three_way(kernel_body, instruction, false),
        "scmp" => expand::three_way(kernel_body, instruction, true),
        "is.fpclass" => expand::is_fpclass(kernel_body, instruction),
        "memcpy" | "memcpy.inline" => memory::import_copy(kernel_body, instruction, false),
        "memmove" => memory::import_copy(kernel_body, instruction, true),
        "memset" | "memset.inline" => memory::import_fill(kernel_body, instruction),
        "objectsize" => {
            // Nothing is known about the size: 0 if the least is asked for, else all ones.
            let is_least = operand_of(instruction, 1)?.int_bits() == Some(1);
            let types = kernel_body.leaf_types(instruction.ty())?;
            let unknown = if is_least { 0 } else { u128::MAX };
            Ok(types.iter().map(|&scalar_type| kernel_body.int_constant(scalar_type, unknown)).collect())
        }
        "is.constant" => {
            let if_false = kernel_body.int_constant(Type::BOOL, 0);
            Ok(Lanes::from([if_false]))
        }
        "ptrmask" => {
            let pointer = kernel_body.scalar_operand(instruction, 0)?;
            let mask = kernel_body.scalar_operand(instruction, 1)?;
            let scalar_type = kernel_body.type_of(pointer);
            let address = kernel_body.unary(UnaryOp::PtrToInt, Type::I64, pointer);
            // Bits above a narrower mask stay; an address here has no more than 64.
            let mask = kernel_body.sext_or_trunc(Type::I64, mask);
            let address = kernel_body.binary(BinaryOp::And, address, mask);
            Ok(Lanes::from([kernel_body.unary(UnaryOp::IntToPtr, scalar_type, address)]))
        }
        "convert.to.fp16" => {
            let value = kernel_body.scalar_operand(instruction, 0)?;
            let half_value = kernel_body.unary(UnaryOp::FpTrunc, Type::F16, value);
            Ok(Lanes::from([kernel_body.unary(UnaryOp::Bitcast, Type::I16, half_value)]))
        }
        "convert.from.fp16" => {
            let raw_bits = kernel_body.scalar_operand(instruction, 0)?;
            let half_value = kernel_body.unary(UnaryOp::Bitcast, Type::F16, raw_bits);
            let types = kernel_body.leaf_types(instruction.ty())?;
            Ok(map_typed_lanes(&[half_value], &types, |operand, scalar_type| {
                kernel_body.unary(UnaryOp::FpExt, scalar_type, operand)
            }))
        }
        "sincos" => {
            let arguments = kernel_body.operand_lanes(instruction, 0)?;
            let mut output = host_lanes(kernel_body, "sin", std::slice::from_ref(&arguments))?;
            output.extend(host_lanes(kernel_body, "cos", &[arguments])?);
            Ok(output.into())
        }
        "powi" => {
            let input_lanes = kernel_body.operand_lanes(instruction, 0)?;
            let power_lane = kernel_body.scalar_operand(instruction, 1)?;
            let power_lanes = map_lanes(&input_lanes, |operand| {
                kernel_body.unary(UnaryOp::SiToFp, kernel_body.type_of(operand), power_lane)
            });
            Ok(host_lanes(kernel_body, "pow", &[input_lanes, power_lanes])?.into())
        }
        "ldexp" => {
            let input_lanes = kernel_body.operand_lanes(instruction, 0)?;
            let power_lane = kernel_body.operand_lanes(instruction, 1)?;
            let power_lanes = map_lanes(&power_lane, |operand| kernel_body.sext_or_trunc(Type::I32, operand));
            Ok(host_lanes(kernel_body, "ldexp", &[input_lanes, power_lanes])?.into())
        }
        "vector.extract" => {
            let vector = kernel_body.operand_lanes(instruction, 0)?;
            let position = constant_position(instruction, 1)?;
            let lane_count = kernel_body.leaf_types(instruction.ty())?.len();
            match vector.get(position..position.saturating_add(lane_count)) {
                Some(part_lanes) => Ok(part_lanes.into()),
                None => refuse!("the instruction `{}`", instruction.text()),
            }
        }
        "vector.insert" => {
            let mut vector = kernel_body.operand_lanes(instruction, 0)?.to_vec();
            let part_lanes = kernel_body.operand_lanes(instruction, 1)?;
            let position = constant_position(instruction, 2)?;
            match vector.get_mut(position..position.saturating_add(part_lanes.len())) {
                Some(place) => place.copy_from_slice(&part_lanes),
                None => refuse!("the instruction `{}`", instruction.text()),
            }
            Ok(vector.into())
        }
        "vector.reverse" => {
            let vector = kernel_body.operand_lanes(instruction, 0)?;
            Ok(vector.iter().rev().copied().collect())
        }
        _ => refuse!("the intrinsic {name} is not supported"),
    }
}

fn unary_op(name: &str) -> Option<UnaryOp> {
    Some(match name {
        "ctpop" => UnaryOp::Popcount,
        "ctlz" => UnaryOp::Clz,
        "cttz" => UnaryOp::Ctz,
        "bswap" => UnaryOp::Bswap,
        "bitreverse" => UnaryOp::Bitreverse,
        "abs" => UnaryOp::Iabs,
        "fabs" => UnaryOp::Fabs,
        "sqrt" => UnaryOp::Sqrt,
        "floor" => UnaryOp::Floor,
        "ceil" => UnaryOp::Ceil,
        "trunc" => UnaryOp::Ftrunc,
        "rint" | "nearbyint" | "roundeven" => UnaryOp::Rint,
        "round" => UnaryOp::Round,
        "canonicalize" => UnaryOp::Canonicalize,
        "arithmetic.fence" => UnaryOp::ArithmeticFence,
        _ => return None,
    })
}

fn binary_op(name: &str) -> Option<BinaryOp> {
    Some(match name {
        "smin" => BinaryOp::Smin,
        "smax" => BinaryOp::Smax,
        "umin" => BinaryOp::Umin,
        "umax" => BinaryOp::Umax,
        "sadd.sat" => BinaryOp::SaddSat,
        "uadd.sat" => BinaryOp::UaddSat,
        "ssub.sat" => BinaryOp::SsubSat,
        "usub.sat" => BinaryOp::UsubSat,
        "minnum" => BinaryOp::Fmin,
        "maxnum" => BinaryOp::Fmax,
        "copysign" => BinaryOp::Copysign,
        _ => return None,
    })
}

fn ternary_op(name: &str) -> Option<TernaryOp> {
    Some(match name {
        "fma" => TernaryOp::Fma,
        "fmuladd" => TernaryOp::FmulAdd,
        "fshl" => TernaryOp::Fshl,
        "fshr" => TernaryOp::Fshr,
        _ => return None,
    })
}

/// The C function for a floating-point intrinsic of that name.
fn host_function(name: &str) -> Option<&'static str> {
    const FUNCTIONS: [&str; 17] = [
        "exp", "exp2", "exp10", "log", "log2", "log10", "pow", "sin", "cos", "tan", "asin", "acos", "atan", "atan2",
        "sinh", "cosh", "tanh",
    ];
    FUNCTIONS.into_iter().find(|&function| function == name)
}

/// What only informs the optimizer or a debugger.
fn is_ignored(name: &str) -> bool {
    matches!(
        name,
        "lifetime.start"
            | "lifetime.end"
            | "invariant.start"
            | "invariant.end"
            | "assume"
            | "experimental.noalias.scope.decl"
            | "prefetch"
            | "donothing"
            | "sideeffect"
            | "pseudoprobe"
            | "var.annotation"
            | "stacksave"
            | "stackrestore"
            | "debugtrap"
            | "fake.use"
            | "dbg.value"
            | "dbg.declare"
            | "dbg.assign"
            | "dbg.label"
    )
}

fn constant_position(instruction: LlvmValue<'_>, index: u32) -> Attempt<usize> {
    let position = operand_of(instruction, index)?.int_bits();
    match position.and_then(|position| usize::try_from(position).ok()) {
        Some(position) => Ok(position),
        None => refuse!("the instruction `{}`", instruction.text()),
    }
}

/// An operation on each pair of lanes.
pub(super) fn import_binary<'m>(
    kernel_body: &mut Body<'_, 'm>,
    instruction: LlvmValue<'m>,
    mut combine: impl FnMut(&mut Body<'_, 'm>, Value, Value) -> Value,
) -> Attempt<Lanes> {
    let left_lanes = kernel_body.operand_lanes(instruction, 0)?;
    let right_lanes = kernel_body.operand_lanes(instruction, 1)?;
    let lanes = left_lanes.iter().zip(right_lanes.iter());
    Ok(lanes.map(|(&left, &right)| combine(kernel_body, left, right)).collect())
}

fn import_ternary<'m>(
    kernel_body: &mut Body<'_, 'm>,
    instruction: LlvmValue<'m>,
    opcode: TernaryOp,
    fast_math: FastMath,
) -> Attempt<Lanes> {
    let left_lanes = kernel_body.operand_lanes(instruction, 0)?;
    let right_lanes = kernel_body.operand_lanes(instruction, 1)?;
    let third_lanes = kernel_body.operand_lanes(instruction, 2)?;
    let lanes = left_lanes.iter().zip(right_lanes.iter()).zip(third_lanes.iter());
    Ok(lanes.map(|((&left, &right), &third)| kernel_body.ternary(opcode, fast_math, [left, right, third])).collect())
}

fn saturating_cast<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, opcode: UnaryOp) -> Attempt<Lanes> {
    let arguments = kernel_body.operand_lanes(instruction, 0)?;
    let types = kernel_body.leaf_types(instruction.ty())?;
    Ok(map_typed_lanes(&arguments, &types, |value, scalar_type| kernel_body.unary(opcode, scalar_type, value)))
}

fn round_to_int<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, opcode: UnaryOp) -> Attempt<Lanes> {
    let arguments = kernel_body.operand_lanes(instruction, 0)?;
    let types = kernel_body.leaf_types(instruction.ty())?;
    Ok(map_typed_lanes(&arguments, &types, |value, scalar_type| {
        let rounded = kernel_body.unary(opcode, kernel_body.type_of(value), value);
        kernel_body.unary(UnaryOp::FpToSi, scalar_type, rounded)
    }))
}

fn import_host_call<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, function: &str) -> Attempt<Lanes> {
    let mut arguments = Vec::new();
    for argument in instruction.call_args() {
        arguments.push(kernel_body.lanes_of(argument)?);
    }
    Ok(host_lanes(kernel_body, function, &arguments)?.into())
}

/// A call of a C function for each lane, in the precision of the first argument; half goes through
/// float.
fn host_lanes(kernel_body: &mut Body<'_, '_>, function: &str, arguments: &[Lanes]) -> Attempt<Vec<Value>> {
    let lane_count = arguments.first().map_or(0, |lanes| lanes.len());
    let mut output = Vec::with_capacity(lane_count);
    for index in 0..lane_count {
        let mut scalars = Vec::with_capacity(arguments.len());
        for lanes in arguments {
            match lanes.get(index) {
                Some(&lane) if kernel_body.type_of(lane) == Type::F16 => {
                    scalars.push(kernel_body.unary(UnaryOp::FpExt, Type::F32, lane));
                }
                Some(&lane) => scalars.push(lane),
                None => refuse!("{function} of vectors of different lengths"),
            }
        }
        let is_half = kernel_body.type_of(arguments[0][index]) == Type::F16;
        let scalar_type = kernel_body.type_of(scalars[0]);
        let name = match scalar_type {
            Type::F64 => function.to_owned(),
            _ => format!("{function}f"),
        };
        let inst_data = InstData::CallHost { name: name.into(), arguments: scalars };
        let result_value = kernel_body.append_single(inst_data, scalar_type);
        output.push(if is_half { kernel_body.unary(UnaryOp::FpTrunc, Type::F16, result_value) } else { result_value });
    }
    Ok(output)
}
