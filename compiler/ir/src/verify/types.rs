//! The types of every operation's operands and results, and its flags.

use super::{Code, Verifier};
use crate::ir::*;
use lockstep_protocol::types::{Space, Type};
use std::collections::HashSet;
use std::fmt::Display;

/// The first rule an operation breaks.
type Check = Result<(), String>;

/// The message becomes text only where it is needed: checks that hold are many.
fn check_that(holds: bool, message: impl Display) -> Check {
    if holds { Ok(()) } else { Err(message.to_string()) }
}

fn check_same(subject: &str, left: Type, right: Type) -> Check {
    check_that(left == right, format_args!("{subject} must be {left}, not {right}"))
}

fn check_types(subject: &str, expected: &[Type], found: &[Type]) -> Check {
    let list = |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
    check_that(expected == found, format_args!("{subject} ({}), not ({})", list(expected), list(found)))
}

fn check_int(value_type: Type) -> Check {
    check_that(value_type.is_int(), format_args!("{value_type} is no integer type"))
}

fn check_float(value_type: Type) -> Check {
    check_that(value_type.is_float(), format_args!("{value_type} is no float type"))
}

fn check_ptr(value_type: Type) -> Check {
    check_that(value_type.is_ptr(), format_args!("{value_type} is no pointer type"))
}

fn power_of_two(alignment: u32) -> Check {
    check_that(alignment.is_power_of_two(), format_args!("alignment {alignment} is no power of two"))
}

fn atomic_align(alignment: u32, value_type: Type) -> Check {
    power_of_two(alignment)?;
    check_that(
        alignment >= value_type.bytes(),
        format_args!("an atomic {value_type} needs alignment {}", value_type.bytes()),
    )
}

fn check_count<const N: usize>(results: &[Type]) -> Result<[Type; N], String> {
    results.try_into().map_err(|_| format!("{N} results are needed, here are {}", results.len()))
}

impl Verifier<'_> {
    pub(super) fn code_types(&mut self, region: Region, code: &Code<'_>) {
        let (kernel, function) = (code.kernel, code.function);
        let entry_block = function.entry_block();
        self.place = format!("{region}, {entry_block}");
        let params: Vec<Type> = function.blocks[entry_block].params.iter().map(|&value| function.ty(value)).collect();
        let inputs: Vec<Type> = kernel.inputs.iter().map(|&(_, value_type)| value_type).collect();
        if params != inputs {
            self.add_error(&block_text(function, entry_block), "the entry's parameters are not the kernel's inputs");
        }
        for &block in &function.layout {
            self.place = format!("{region}, {block}");
            for &instruction in &function.blocks[block].insts {
                if let Err(message) = self.check_inst(code, instruction) {
                    self.add_error(&inst_text(function, instruction), message);
                }
            }
            if let Err(message) = check_terminator(function, &function.blocks[block].terminator) {
                self.add_error(&term_text(function, block), message);
            }
        }
    }

    fn check_inst(&self, code: &Code<'_>, instruction: Inst) -> Check {
        let function = code.function;
        let inst_node = &function.insts[instruction];
        let results: Vec<Type> = inst_node.results.iter().map(|&result| function.ty(result)).collect();
        match &inst_node.data {
            InstData::Unary { opcode, fast_math: fmf, argument } => {
                let [to_type] = check_count(&results)?;
                check_unary(*opcode, function.ty(*argument), to_type)?;
                fast_math(*fmf, to_type)
            }
            InstData::Binary { opcode, flags, fast_math: fmf, arguments } => {
                let [result_type] = check_count(&results)?;
                if is_float_op(*opcode) { check_float(result_type) } else { check_int(result_type) }?;
                check_that(
                    *opcode != BinaryOp::QuotientEstimate || result_type == Type::F32,
                    format_args!("{result_type} is not f32"),
                )?;
                check_that(
                    *opcode != BinaryOp::Powered || result_type == Type::F64,
                    format_args!("{result_type} is not f64"),
                )?;
                arguments
                    .iter()
                    .try_for_each(|&argument| check_same("the operand", result_type, function.ty(argument)))?;
                fast_math(*fmf, result_type)?;
                use BinaryOp::{Add, Mul, Shl, Sub};
                check_that(
                    *flags == IntFlags::default() || matches!(opcode, Add | Sub | Mul | Shl),
                    format_args!("{} takes no nsw or nuw", opcode.name()),
                )
            }
            InstData::Ternary { opcode, fast_math: fmf, arguments } => {
                let [result_type] = check_count(&results)?;
                let operands = match opcode {
                    TernaryOp::Select => {
                        check_same("the condition", Type::BOOL, function.ty(arguments[0]))?;
                        &arguments[1..]
                    }
                    TernaryOp::Fma | TernaryOp::FmulAdd => {
                        check_float(result_type)?;
                        &arguments[..]
                    }
                    TernaryOp::Scaled => {
                        check_that(
                            matches!(result_type, Type::F32 | Type::F64),
                            format_args!("{result_type} is not f32 or f64"),
                        )?;
                        &arguments[..]
                    }
                    TernaryOp::Fshl | TernaryOp::Fshr => {
                        check_int(result_type)?;
                        &arguments[..]
                    }
                };
                fast_math(*fmf, result_type)?;
                operands.iter().try_for_each(|&argument| check_same("the operand", result_type, function.ty(argument)))
            }
            InstData::Icmp { arguments, .. } => {
                let [result_type] = check_count(&results)?;
                check_same("the result", Type::BOOL, result_type)?;
                let operand = function.ty(arguments[0]);
                check_that(!operand.is_float(), format_args!("icmp does not compare {operand}"))?;
                check_same("the second operand", operand, function.ty(arguments[1]))
            }
            InstData::Fcmp { arguments, .. } => {
                let [result_type] = check_count(&results)?;
                check_same("the result", Type::BOOL, result_type)?;
                check_float(function.ty(arguments[0]))?;
                check_same("the second operand", function.ty(arguments[0]), function.ty(arguments[1]))
            }
            InstData::PtrAdd { base, offset, .. } => {
                let [result_type] = check_count(&results)?;
                check_ptr(result_type)?;
                check_same("the base", result_type, function.ty(*base))?;
                check_same("the offset", Type::I64, function.ty(*offset))
            }
            InstData::Load { pointer: address, access, .. } => {
                check_ptr(function.ty(*address))?;
                check_that(!results.is_empty(), "a load has at least one result")?;
                check_that(
                    !matches!(access.atomic, Some(Ordering::Release | Ordering::AcqRel)),
                    "a load does not release",
                )?;
                check_elements(&results, access)
            }
            InstData::Store { pointer: address, access, arguments, .. } => {
                check_count::<0>(&results)?;
                check_ptr(function.ty(*address))?;
                check_that(!arguments.is_empty(), "a store has at least one value")?;
                check_that(
                    !matches!(access.atomic, Some(Ordering::Acquire | Ordering::AcqRel)),
                    "a store does not acquire",
                )?;
                let types: Vec<Type> = arguments.iter().map(|&argument| function.ty(argument)).collect();
                check_elements(&types, access)
            }
            InstData::MemCopy { destination, source, length, .. } => {
                check_count::<0>(&results)?;
                check_ptr(function.ty(*destination))?;
                check_ptr(function.ty(*source))?;
                check_same("the length", Type::I64, function.ty(*length))
            }
            InstData::MemSet { destination, byte, length, .. } => {
                check_count::<0>(&results)?;
                check_ptr(function.ty(*destination))?;
                check_same("the byte", Type::I8, function.ty(*byte))?;
                check_same("the length", Type::I64, function.ty(*length))
            }
            InstData::AtomicRmw { opcode, align, pointer: address, argument, .. } => {
                let [result_type] = check_count(&results)?;
                check_ptr(function.ty(*address))?;
                check_same("the operand", result_type, function.ty(*argument))?;
                use AtomicOp::{Fadd, Fmax, Fmin, Fsub, Xchg};
                match opcode {
                    Xchg => Ok(()),
                    Fadd | Fsub | Fmax | Fmin => check_float(result_type),
                    _ => check_int(result_type),
                }?;
                atomic_align(*align, result_type)
            }
            InstData::AtomicCas { failure, align, pointer: address, expected, new, .. } => {
                let [result_type, stored] = check_count(&results)?;
                check_ptr(function.ty(*address))?;
                check_same("the second result", Type::BOOL, stored)?;
                check_that(!result_type.is_float(), format_args!("atomic_cas does not compare {result_type}"))?;
                check_same("the expected value", result_type, function.ty(*expected))?;
                check_same("the new value", result_type, function.ty(*new))?;
                check_that(
                    !matches!(failure, Ordering::Release | Ordering::AcqRel),
                    "a failure stores nothing and so cannot release",
                )?;
                atomic_align(*align, result_type)
            }
            InstData::Fence { order } => {
                check_count::<0>(&results)?;
                check_that(*order != Ordering::Relaxed, "a relaxed fence orders nothing")
            }
            InstData::Query { query, dimension } => {
                let [result_type] = check_count(&results)?;
                if *query == Query::WorkDim {
                    check_that(*dimension == 0, "work_dim has no dimension but 0")?;
                    check_same("the result", Type::I32, result_type)
                } else {
                    check_that(*query != Query::LinearId || *dimension == 0, "linear_id has no dimension but 0")?;
                    check_that(*dimension < 3, format_args!("there is no dimension {dimension}"))?;
                    check_same("the result", Type::I64, result_type)
                }
            }
            InstData::SlotAddr { .. } => {
                let [result_type] = check_count(&results)?;
                check_same("the result", Type::Ptr(Space::Private), result_type)
            }
            InstData::LocalAddr { .. } => {
                let [result_type] = check_count(&results)?;
                check_same("the result", Type::Ptr(Space::Local), result_type)
            }
            InstData::GlobalAddr { global } => {
                let [result_type] = check_count(&results)?;
                let address_space = self.module.globals[*global].space;
                check_same("the result", Type::Ptr(address_space), result_type)
            }
            InstData::Any { condition } => {
                let [result_type] = check_count(&results)?;
                check_same("the result", Type::BOOL, result_type)?;
                check_same("the condition", Type::BOOL, function.ty(*condition))
            }
            InstData::Ballot { condition } => {
                let [result_type] = check_count(&results)?;
                check_same("the result", Type::I64, result_type)?;
                check_same("the condition", Type::BOOL, function.ty(*condition))
            }
            InstData::LaneOf { argument, lane } | InstData::Shuffle { argument, lane } => {
                let [result_type] = check_count(&results)?;
                check_same("the operand", result_type, function.ty(*argument))?;
                check_same("the lane", Type::I64, function.ty(*lane))
            }
            InstData::Put { into, lane, value } => {
                let [result_type] = check_count(&results)?;
                check_same("the operand", result_type, function.ty(*into))?;
                check_same("the lane", Type::I64, function.ty(*lane))?;
                check_same("the value", result_type, function.ty(*value))
            }
            InstData::Barrier | InstData::GangBarrier | InstData::Yield => check_count::<0>(&results).map(drop),
            InstData::CountIterations { argument, .. } => {
                check_count::<0>(&results)?;
                check_same("the operand", Type::I32, function.ty(*argument))
            }
            InstData::Collective { opcode, argument, .. } | InstData::Across { opcode, argument, .. } => {
                let [result_type] = check_count(&results)?;
                check_same("the operand", result_type, function.ty(*argument))?;
                check_that(
                    opcode.identity(result_type).is_some(),
                    format_args!("{} of {result_type} is not collective", opcode.name()),
                )
            }
            InstData::Clock => {
                let [result_type] = check_count(&results)?;
                check_same("the result", Type::I64, result_type)
            }
            InstData::Combined => {
                let [result_type] = check_count(&results)?;
                let combine = code.kernel.combines[code.region];
                let combined_type = combine.filter(|combine| combine.collective == Collect::Reduce);
                let combined_type = combined_type
                    .and_then(|combine| code.kernel.live.get(combine.live_slot).map(|live_data| live_data.ty));
                check_that(
                    combined_type == Some(result_type),
                    "the region does not begin with a reduction of this type",
                )
            }
            InstData::LiveLoad { live_slot } => {
                let [result_type] = check_count(&results)?;
                check_same("the result", code.kernel.live[*live_slot].ty, result_type)
            }
            InstData::LiveStore { live_slot, argument } => {
                check_count::<0>(&results)?;
                check_same("the operand", code.kernel.live[*live_slot].ty, function.ty(*argument))
            }
            InstData::CallHost { arguments, .. } => {
                let [result_type] = check_count(&results)?;
                let mut types = arguments.iter().map(|&argument| function.ty(argument)).chain([result_type]);
                check_that(
                    types.all(|result_type| !result_type.is_ptr()),
                    "a host function takes and gives no pointers",
                )
            }
            InstData::Call { callee, arguments } => {
                let Kernel { inputs, results: returned, .. } = &self.module.functions[*callee];
                check_types("the function returns", returned, &results)?;
                check_that(
                    inputs.len() == arguments.len(),
                    format_args!("the function takes {} operands", inputs.len()),
                )?;
                arguments.iter().zip(inputs).try_for_each(|(&argument, &(_, input_type))| {
                    check_same("the operand", input_type, function.ty(argument))
                })
            }
            InstData::SetResults { arguments } => {
                check_count::<0>(&results)?;
                let set: Vec<Type> = arguments.iter().map(|&argument| function.ty(argument)).collect();
                check_types("the function returns", &code.kernel.results, &set)
            }
            InstData::Printf { format, arguments } => {
                let [result_type] = check_count(&results)?;
                check_same("the result", Type::I32, result_type)?;
                let needed: Vec<Type> = self.module.formats[*format]
                    .args
                    .iter()
                    .flat_map(|&(result_type, count)| std::iter::repeat_n(result_type, usize::from(count)))
                    .collect();
                check_that(
                    needed.len() == arguments.len(),
                    format_args!("the format takes {} operands", needed.len()),
                )?;
                arguments.iter().zip(needed).try_for_each(|(&argument, result_type)| {
                    check_same("the operand", result_type, function.ty(argument))
                })
            }
        }
    }
}

fn check_terminator(function: &Function, terminator: &Terminator) -> Check {
    match terminator {
        Terminator::Branch { condition, .. } => check_same("the condition", Type::BOOL, function.ty(*condition))?,
        Terminator::Switch { value, cases, .. } => {
            let selector_type = function.ty(*value);
            check_int(selector_type)?;
            let mut keys = HashSet::new();
            for &(key, _) in cases {
                check_that(
                    key & selector_type.value_mask() == key,
                    format_args!("case {key:#x} is no {selector_type}"),
                )?;
                check_that(keys.insert(key), format_args!("case {key} stands twice"))?;
            }
        }
        _ => {}
    }
    for target in terminator.targets() {
        for (&argument, &parameter) in target.arguments.iter().zip(&function.blocks[target.block].params) {
            check_same(&format!("{}'s {parameter}", target.block), function.ty(parameter), function.ty(argument))?;
        }
    }
    Ok(())
}

fn fast_math(fast_math: FastMath, value_type: Type) -> Check {
    check_that(
        fast_math == FastMath::default() || value_type.is_float(),
        format_args!("fast-math flags mean nothing for {value_type}"),
    )
}

fn check_elements(types: &[Type], access: &Access) -> Check {
    types[1..].iter().try_for_each(|&value_type| check_same("every element", types[0], value_type))?;
    power_of_two(access.align)?;
    if access.atomic.is_some() {
        check_that(types.len() == 1, "an atomic access has one element")?;
        atomic_align(access.align, types[0])?;
    }
    Ok(())
}

fn is_float_op(opcode: BinaryOp) -> bool {
    use BinaryOp::*;
    match opcode {
        Fadd | Fsub | Fmul | Fdiv | QuotientEstimate | Frem | Fmin | Fmax | Copysign | Powered => true,
        Add | Sub | Mul | Udiv | Sdiv | Urem | Srem | And | Or | Xor | Shl | Lshr | Ashr | Smin | Smax | Umin
        | Umax | SaddSat | UaddSat | SsubSat | UsubSat => false,
    }
}

/// Whether an operation takes a value of a type and gives one of another.
pub fn takes_types(opcode: UnaryOp, from_type: Type, to_type: Type) -> bool {
    check_unary(opcode, from_type, to_type).is_ok()
}

fn check_unary(opcode: UnaryOp, from_type: Type, to_type: Type) -> Check {
    use UnaryOp::*;
    let narrower = || check_that(to_type.bits() < from_type.bits(), format_args!("{to_type} is not below {from_type}"));
    let wider = || check_that(to_type.bits() > from_type.bits(), format_args!("{to_type} is not above {from_type}"));
    match opcode {
        Freeze => check_same("the operand", to_type, from_type),
        Fneg | Fabs | Sqrt | Floor | Ceil | Ftrunc | Rint | Round | Canonicalize | ArithmeticFence => {
            check_float(to_type)?;
            check_same("the operand", to_type, from_type)
        }
        Rsqrt | RecipEstimate | RsqrtNative => {
            check_that(to_type == Type::F32, format_args!("{to_type} is not f32"))?;
            check_same("the operand", to_type, from_type)
        }
        Logb | Significand => {
            check_that(to_type == Type::F64, format_args!("{to_type} is not f64"))?;
            check_same("the operand", to_type, from_type)
        }
        RsqrtEstimate => {
            check_that(matches!(to_type, Type::F32 | Type::F64), format_args!("{to_type} is not f32 or f64"))?;
            check_same("the operand", to_type, from_type)
        }
        Popcount | Clz | Ctz | Bitreverse | Iabs => {
            check_int(to_type)?;
            check_same("the operand", to_type, from_type)
        }
        Bswap => {
            check_int(to_type)?;
            check_same("the operand", to_type, from_type)?;
            check_that(to_type.bits().is_multiple_of(16), format_args!("{to_type} has no byte pairs"))
        }
        Trunc => {
            check_int(from_type)?;
            check_int(to_type)?;
            narrower()
        }
        Zext | Sext => {
            check_int(from_type)?;
            check_int(to_type)?;
            wider()
        }
        FpTrunc => {
            check_float(from_type)?;
            check_float(to_type)?;
            narrower()
        }
        FpExt => {
            check_float(from_type)?;
            check_float(to_type)?;
            wider()
        }
        FpToSi | FpToUi | FpToSiSat | FpToUiSat => {
            check_float(from_type)?;
            check_int(to_type)
        }
        SiToFp | UiToFp => {
            check_int(from_type)?;
            check_float(to_type)
        }
        Bitcast => {
            check_that(!from_type.is_ptr() && !to_type.is_ptr(), "bitcast takes and gives no pointer")?;
            check_that(
                from_type.bits() == to_type.bits(),
                format_args!("{from_type} and {to_type} have different widths"),
            )
        }
        PtrToInt => {
            check_ptr(from_type)?;
            check_int(to_type)
        }
        IntToPtr => {
            check_int(from_type)?;
            check_ptr(to_type)
        }
        SpaceCast => {
            check_ptr(from_type)?;
            check_ptr(to_type)
        }
        SpaceOf => {
            check_ptr(from_type)?;
            check_same("the result", Type::I32, to_type)
        }
    }
}
