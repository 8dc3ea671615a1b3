//! LLVM's intrinsic functions.

use super::emit::{Body, Lanes, map_lanes, map_typed_lanes, operand_of};
use super::error::{Attempt, refuse};
use super::llvm::Value as LlvmValue;
use super::{expand, memory};
use lockstep_ir::ir::{BinaryOp, FastMath, InstData, IntFlags, TernaryOp, UnaryOp, Value};
use lockstep_protocol::types::Type;

/// Imports a call of the intrinsic with this name (without type suffix).
pub(super) fn import_intrinsic<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, name: &str) -> Attempt<Lanes> {
    let Some(short) = name.strip_prefix("llvm.") else {
        refuse!("the intrinsic {name}");
    };
    if let Some(opcode) = unary_op(short) {
        let fast_math = FastMath(instruction.fast_math());
        let arguments = body.operand_lanes(instruction, 0)?;
        return Ok(map_lanes(&arguments, |v| body.unary_fast(opcode, body.type_of(v), fast_math, v)));
    }
    if let Some(opcode) = binary_op(short) {
        let fast_math = FastMath(instruction.fast_math());
        let flags = IntFlags::default();
        return import_binary(body, instruction, |body, left, right| {
            body.binary_with(opcode, flags, fast_math, left, right)
        });
    }
    if let Some(opcode) = ternary_op(short) {
        let fast_math = FastMath(instruction.fast_math());
        return import_ternary(body, instruction, opcode, fast_math);
    }
    if let Some(function) = host_function(short) {
        return import_host_call(body, instruction, function);
    }
    if let Some(reduction) = short.strip_prefix("vector.reduce.") {
        return expand::expand_reduction(body, instruction, reduction);
    }
    if is_ignored(short) {
        return Ok(Lanes::from([]));
    }
    match short {
        "expect"
        | "expect.with.probability"
        | "ssa.copy"
        | "arithmetic.fence"
        | "launder.invariant.group"
        | "strip.invariant.group"
        | "annotation"
        | "ptr.annotation" => body.operand_lanes(instruction, 0),
        "fptosi.sat" => saturating_cast(body, instruction, UnaryOp::FpToSiSat),
        "fptoui.sat" => saturating_cast(body, instruction, UnaryOp::FpToUiSat),
        "lrint" | "llrint" => round_to_int(body, instruction, UnaryOp::Rint),
        "lround" | "llround" => round_to_int(body, instruction, UnaryOp::Round),
        "minimum" => expand::minimum_maximum(body, instruction, false, true),
        "maximum" => expand::minimum_maximum(body, instruction, true, true),
        "minimumnum" => expand::minimum_maximum(body, instruction, false, false),
        "maximumnum" => expand::minimum_maximum(body, instruction, true, false),
        "uadd.with.overflow" | "sadd.with.overflow" | "usub.with.overflow" | "ssub.with.overflow"
        | "umul.with.overflow" | "smul.with.overflow" => expand::with_overflow(body, instruction, short),
        "ushl.sat" => expand::shl_sat(body, instruction, false),
        "sshl.sat" => expand::shl_sat(body, instruction, true),
        "ucmp" => expand::three_way(body, instruction, false),
        "scmp" => expand::three_way(body, instruction, true),
        "is.fpclass" => expand::is_fpclass(body, instruction),
        "memcpy" | "memcpy.inline" => memory::import_copy(body, instruction, false),
        "memmove" => memory::import_copy(body, instruction, true),
        "memset" | "memset.inline" => memory::import_fill(body, instruction),
        "objectsize" => {
            // Nothing is known about the size: 0 if the least is asked for, else all ones.
            let least = operand_of(instruction, 1)?.int_bits() == Some(1);
            let types = body.leaf_types(instruction.ty())?;
            let unknown = if least { 0 } else { u128::MAX };
            Ok(types.iter().map(|&ty| body.int_constant(ty, unknown)).collect())
        }
        "is.constant" => {
            let if_false = body.int_constant(Type::BOOL, 0);
            Ok(Lanes::from([if_false]))
        }
        "ptrmask" => {
            let pointer = body.scalar_operand(instruction, 0)?;
            let mask = body.scalar_operand(instruction, 1)?;
            let ty = body.type_of(pointer);
            let address = body.unary(UnaryOp::PtrToInt, Type::I64, pointer);
            // Bits above a narrower mask stay; an address here has no more than 64.
            let mask = body.sext_or_trunc(Type::I64, mask);
            let address = body.binary(BinaryOp::And, address, mask);
            Ok(Lanes::from([body.unary(UnaryOp::IntToPtr, ty, address)]))
        }
        "convert.to.fp16" => {
            let value = body.scalar_operand(instruction, 0)?;
            let half = body.unary(UnaryOp::FpTrunc, Type::F16, value);
            Ok(Lanes::from([body.unary(UnaryOp::Bitcast, Type::I16, half)]))
        }
        "convert.from.fp16" => {
            let bits = body.scalar_operand(instruction, 0)?;
            let half = body.unary(UnaryOp::Bitcast, Type::F16, bits);
            let types = body.leaf_types(instruction.ty())?;
            Ok(map_typed_lanes(&[half], &types, |v, ty| body.unary(UnaryOp::FpExt, ty, v)))
        }
        "sincos" => {
            let arguments = body.operand_lanes(instruction, 0)?;
            let mut output = host_lanes(body, "sin", std::slice::from_ref(&arguments))?;
            output.extend(host_lanes(body, "cos", &[arguments])?);
            Ok(output.into())
        }
        "powi" => {
            let x = body.operand_lanes(instruction, 0)?;
            let power = body.scalar_operand(instruction, 1)?;
            let powers = map_lanes(&x, |v| body.unary(UnaryOp::SiToFp, body.type_of(v), power));
            Ok(host_lanes(body, "pow", &[x, powers])?.into())
        }
        "ldexp" => {
            let x = body.operand_lanes(instruction, 0)?;
            let power = body.operand_lanes(instruction, 1)?;
            let powers = map_lanes(&power, |v| body.sext_or_trunc(Type::I32, v));
            Ok(host_lanes(body, "ldexp", &[x, powers])?.into())
        }
        "vector.extract" => {
            let vector = body.operand_lanes(instruction, 0)?;
            let position = constant_position(instruction, 1)?;
            let count = body.leaf_types(instruction.ty())?.len();
            match vector.get(position..position.saturating_add(count)) {
                Some(part) => Ok(part.into()),
                None => refuse!("the instruction `{}`", instruction.text()),
            }
        }
        "vector.insert" => {
            let mut vector = body.operand_lanes(instruction, 0)?.to_vec();
            let part = body.operand_lanes(instruction, 1)?;
            let position = constant_position(instruction, 2)?;
            match vector.get_mut(position..position.saturating_add(part.len())) {
                Some(place) => place.copy_from_slice(&part),
                None => refuse!("the instruction `{}`", instruction.text()),
            }
            Ok(vector.into())
        }
        "vector.reverse" => {
            let vector = body.operand_lanes(instruction, 0)?;
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
    match position.and_then(|p| usize::try_from(p).ok()) {
        Some(position) => Ok(position),
        None => refuse!("the instruction `{}`", instruction.text()),
    }
}

/// An operation on each pair of lanes.
pub(super) fn import_binary<'m>(
    body: &mut Body<'_, 'm>,
    instruction: LlvmValue<'m>,
    mut f: impl FnMut(&mut Body<'_, 'm>, Value, Value) -> Value,
) -> Attempt<Lanes> {
    let a = body.operand_lanes(instruction, 0)?;
    let b = body.operand_lanes(instruction, 1)?;
    let lanes = a.iter().zip(b.iter());
    Ok(lanes.map(|(&left, &right)| f(body, left, right)).collect())
}

fn import_ternary<'m>(
    body: &mut Body<'_, 'm>,
    instruction: LlvmValue<'m>,
    opcode: TernaryOp,
    fast_math: FastMath,
) -> Attempt<Lanes> {
    let a = body.operand_lanes(instruction, 0)?;
    let b = body.operand_lanes(instruction, 1)?;
    let c = body.operand_lanes(instruction, 2)?;
    let lanes = a.iter().zip(b.iter()).zip(c.iter());
    Ok(lanes.map(|((&left, &right), &c)| body.ternary(opcode, fast_math, [left, right, c])).collect())
}

fn saturating_cast<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, opcode: UnaryOp) -> Attempt<Lanes> {
    let arguments = body.operand_lanes(instruction, 0)?;
    let types = body.leaf_types(instruction.ty())?;
    Ok(map_typed_lanes(&arguments, &types, |value, ty| body.unary(opcode, ty, value)))
}

fn round_to_int<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, opcode: UnaryOp) -> Attempt<Lanes> {
    let arguments = body.operand_lanes(instruction, 0)?;
    let types = body.leaf_types(instruction.ty())?;
    Ok(map_typed_lanes(&arguments, &types, |value, ty| {
        let rounded = body.unary(opcode, body.type_of(value), value);
        body.unary(UnaryOp::FpToSi, ty, rounded)
    }))
}

fn import_host_call<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, function: &str) -> Attempt<Lanes> {
    let mut arguments = Vec::new();
    for argument in instruction.call_args() {
        arguments.push(body.lanes_of(argument)?);
    }
    Ok(host_lanes(body, function, &arguments)?.into())
}

/// A call of a C function for each lane, in the precision of the first argument; half goes through
/// float.
fn host_lanes(body: &mut Body<'_, '_>, function: &str, arguments: &[Lanes]) -> Attempt<Vec<Value>> {
    let count = arguments.first().map_or(0, |lanes| lanes.len());
    let mut output = Vec::with_capacity(count);
    for index in 0..count {
        let mut scalars = Vec::with_capacity(arguments.len());
        for lanes in arguments {
            match lanes.get(index) {
                Some(&lane) if body.type_of(lane) == Type::F16 => {
                    scalars.push(body.unary(UnaryOp::FpExt, Type::F32, lane));
                }
                Some(&lane) => scalars.push(lane),
                None => refuse!("{function} of vectors of different lengths"),
            }
        }
        let half = body.type_of(arguments[0][index]) == Type::F16;
        let ty = body.type_of(scalars[0]);
        let name = match ty {
            Type::F64 => function.to_owned(),
            _ => format!("{function}f"),
        };
        let inst_data = InstData::CallHost { name: name.into(), arguments: scalars };
        let result = body.append_single(inst_data, ty);
        output.push(if half { body.unary(UnaryOp::FpTrunc, Type::F16, result) } else { result });
    }
    Ok(output)
}
