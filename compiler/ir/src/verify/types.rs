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

fn check_same(what: &str, a: Type, b: Type) -> Check {
    check_that(a == b, format_args!("{what} must be {a}, not {b}"))
}

fn check_int(ty: Type) -> Check {
    check_that(ty.is_int(), format_args!("{ty} is no integer type"))
}

fn check_float(ty: Type) -> Check {
    check_that(ty.is_float(), format_args!("{ty} is no float type"))
}

fn check_ptr(ty: Type) -> Check {
    check_that(ty.is_ptr(), format_args!("{ty} is no pointer type"))
}

fn power_of_two(align: u32) -> Check {
    check_that(align.is_power_of_two(), format_args!("alignment {align} is no power of two"))
}

fn atomic_align(align: u32, ty: Type) -> Check {
    power_of_two(align)?;
    check_that(align >= ty.bytes(), format_args!("an atomic {ty} needs alignment {}", ty.bytes()))
}

fn check_count<const N: usize>(results: &[Type]) -> Result<[Type; N], String> {
    results.try_into().map_err(|_| format!("{N} results are needed, here are {}", results.len()))
}

impl Verifier<'_> {
    pub(super) fn code_types(&mut self, region: Region, code: &Code<'_>) {
        let (kernel, f) = (code.kernel, code.function);
        let entry = f.entry_block();
        self.place = format!("{region}, {entry}");
        let params: Vec<Type> = f.blocks[entry].params.iter().map(|&v| f.ty(v)).collect();
        let inputs: Vec<Type> = kernel.inputs.iter().map(|&(_, ty)| ty).collect();
        if params != inputs {
            self.add_error(&block_text(f, entry), "the entry's parameters are not the kernel's inputs");
        }
        for &block in &f.layout {
            self.place = format!("{region}, {block}");
            for &inst in &f.blocks[block].insts {
                if let Err(message) = self.check_inst(code, inst) {
                    self.add_error(&inst_text(f, inst), message);
                }
            }
            if let Err(message) = check_terminator(f, &f.blocks[block].terminator) {
                self.add_error(&term_text(f, block), message);
            }
        }
    }

    fn check_inst(&self, code: &Code<'_>, inst: Inst) -> Check {
        let f = code.function;
        let node = &f.insts[inst];
        let results: Vec<Type> = node.results.iter().map(|&v| f.ty(v)).collect();
        match &node.data {
            InstData::Unary { opcode: op, fast_math: fmf, argument: arg } => {
                let [to] = check_count(&results)?;
                check_unary(*op, f.ty(*arg), to)?;
                fast_math(*fmf, to)
            }
            InstData::Binary { opcode: op, flags, fast_math: fmf, arguments: args } => {
                let [ty] = check_count(&results)?;
                if is_float_op(*op) { check_float(ty) } else { check_int(ty) }?;
                check_that(*op != BinaryOp::QuotientEstimate || ty == Type::F32, format_args!("{ty} is not f32"))?;
                check_that(*op != BinaryOp::Powered || ty == Type::F64, format_args!("{ty} is not f64"))?;
                args.iter().try_for_each(|&arg| check_same("the operand", ty, f.ty(arg)))?;
                fast_math(*fmf, ty)?;
                use BinaryOp::{Add, Mul, Shl, Sub};
                check_that(
                    *flags == IntFlags::default() || matches!(op, Add | Sub | Mul | Shl),
                    format_args!("{} takes no nsw or nuw", op.name()),
                )
            }
            InstData::Ternary { opcode: op, fast_math: fmf, arguments: args } => {
                let [ty] = check_count(&results)?;
                let operands = match op {
                    TernaryOp::Select => {
                        check_same("the condition", Type::BOOL, f.ty(args[0]))?;
                        &args[1..]
                    }
                    TernaryOp::Fma | TernaryOp::FmulAdd => {
                        check_float(ty)?;
                        &args[..]
                    }
                    TernaryOp::Scaled => {
                        check_that(matches!(ty, Type::F32 | Type::F64), format_args!("{ty} is not f32 or f64"))?;
                        &args[..]
                    }
                    TernaryOp::Fshl | TernaryOp::Fshr => {
                        check_int(ty)?;
                        &args[..]
                    }
                };
                fast_math(*fmf, ty)?;
                operands.iter().try_for_each(|&arg| check_same("the operand", ty, f.ty(arg)))
            }
            InstData::Icmp { arguments: args, .. } => {
                let [ty] = check_count(&results)?;
                check_same("the result", Type::BOOL, ty)?;
                let operand = f.ty(args[0]);
                check_that(!operand.is_float(), format_args!("icmp does not compare {operand}"))?;
                check_same("the second operand", operand, f.ty(args[1]))
            }
            InstData::Fcmp { arguments: args, .. } => {
                let [ty] = check_count(&results)?;
                check_same("the result", Type::BOOL, ty)?;
                check_float(f.ty(args[0]))?;
                check_same("the second operand", f.ty(args[0]), f.ty(args[1]))
            }
            InstData::PtrAdd { base, offset, .. } => {
                let [ty] = check_count(&results)?;
                check_ptr(ty)?;
                check_same("the base", ty, f.ty(*base))?;
                check_same("the offset", Type::I64, f.ty(*offset))
            }
            InstData::Load { pointer: place, access, .. } => {
                check_ptr(f.ty(*place))?;
                check_that(!results.is_empty(), "a load has at least one result")?;
                check_that(
                    !matches!(access.atomic, Some(Ordering::Release | Ordering::AcqRel)),
                    "a load does not release",
                )?;
                check_elements(&results, access)
            }
            InstData::Store { pointer: place, access, arguments: args, .. } => {
                check_count::<0>(&results)?;
                check_ptr(f.ty(*place))?;
                check_that(!args.is_empty(), "a store has at least one value")?;
                check_that(
                    !matches!(access.atomic, Some(Ordering::Acquire | Ordering::AcqRel)),
                    "a store does not acquire",
                )?;
                let types: Vec<Type> = args.iter().map(|&v| f.ty(v)).collect();
                check_elements(&types, access)
            }
            InstData::MemCopy { destination: dst, source: src, length: len, .. } => {
                check_count::<0>(&results)?;
                check_ptr(f.ty(*dst))?;
                check_ptr(f.ty(*src))?;
                check_same("the length", Type::I64, f.ty(*len))
            }
            InstData::MemSet { destination: dst, byte, length: len, .. } => {
                check_count::<0>(&results)?;
                check_ptr(f.ty(*dst))?;
                check_same("the byte", Type::I8, f.ty(*byte))?;
                check_same("the length", Type::I64, f.ty(*len))
            }
            InstData::AtomicRmw { opcode: op, align, pointer: place, argument: arg, .. } => {
                let [ty] = check_count(&results)?;
                check_ptr(f.ty(*place))?;
                check_same("the operand", ty, f.ty(*arg))?;
                use AtomicOp::{Fadd, Fmax, Fmin, Fsub, Xchg};
                match op {
                    Xchg => Ok(()),
                    Fadd | Fsub | Fmax | Fmin => check_float(ty),
                    _ => check_int(ty),
                }?;
                atomic_align(*align, ty)
            }
            InstData::AtomicCas { failure, align, pointer: place, expected, new, .. } => {
                let [ty, stored] = check_count(&results)?;
                check_ptr(f.ty(*place))?;
                check_same("the second result", Type::BOOL, stored)?;
                check_that(!ty.is_float(), format_args!("atomic_cas does not compare {ty}"))?;
                check_same("the expected value", ty, f.ty(*expected))?;
                check_same("the new value", ty, f.ty(*new))?;
                check_that(
                    !matches!(failure, Ordering::Release | Ordering::AcqRel),
                    "a failure stores nothing and so cannot release",
                )?;
                atomic_align(*align, ty)
            }
            InstData::Fence { order } => {
                check_count::<0>(&results)?;
                check_that(*order != Ordering::Relaxed, "a relaxed fence orders nothing")
            }
            InstData::Query { query, dimension: dim } => {
                let [ty] = check_count(&results)?;
                if *query == Query::WorkDim {
                    check_that(*dim == 0, "work_dim has no dimension but 0")?;
                    check_same("the result", Type::I32, ty)
                } else {
                    check_that(*query != Query::LinearId || *dim == 0, "linear_id has no dimension but 0")?;
                    check_that(*dim < 3, format_args!("there is no dimension {dim}"))?;
                    check_same("the result", Type::I64, ty)
                }
            }
            InstData::SlotAddr { .. } => {
                let [ty] = check_count(&results)?;
                check_same("the result", Type::Ptr(Space::Private), ty)
            }
            InstData::LocalAddr { .. } => {
                let [ty] = check_count(&results)?;
                check_same("the result", Type::Ptr(Space::Local), ty)
            }
            InstData::GlobalAddr { global } => {
                let [ty] = check_count(&results)?;
                let space = self.module.globals[*global].space;
                check_same("the result", Type::Ptr(space), ty)
            }
            InstData::Any { condition: cond } => {
                let [ty] = check_count(&results)?;
                check_same("the result", Type::BOOL, ty)?;
                check_same("the condition", Type::BOOL, f.ty(*cond))
            }
            InstData::Ballot { condition: cond } => {
                let [ty] = check_count(&results)?;
                check_same("the result", Type::I64, ty)?;
                check_same("the condition", Type::BOOL, f.ty(*cond))
            }
            InstData::LaneOf { argument: arg, lane } | InstData::Shuffle { argument: arg, lane } => {
                let [ty] = check_count(&results)?;
                check_same("the operand", ty, f.ty(*arg))?;
                check_same("the lane", Type::I64, f.ty(*lane))
            }
            InstData::Put { into, lane, value } => {
                let [ty] = check_count(&results)?;
                check_same("the operand", ty, f.ty(*into))?;
                check_same("the lane", Type::I64, f.ty(*lane))?;
                check_same("the value", ty, f.ty(*value))
            }
            InstData::Barrier | InstData::GangBarrier | InstData::Yield => check_count::<0>(&results).map(drop),
            InstData::Collective { opcode: op, argument: arg, .. }
            | InstData::Across { opcode: op, argument: arg, .. } => {
                let [ty] = check_count(&results)?;
                check_same("the operand", ty, f.ty(*arg))?;
                check_that(op.identity(ty).is_some(), format_args!("{} of {ty} is not collective", op.name()))
            }
            InstData::Clock => {
                let [ty] = check_count(&results)?;
                check_same("the result", Type::I64, ty)
            }
            InstData::Combined => {
                let [ty] = check_count(&results)?;
                let combine = code.kernel.combines[code.region];
                let of = combine.filter(|combine| combine.collective == Collect::Reduce);
                let of = of.and_then(|combine| code.kernel.live.get(combine.live_slot).map(|data| data.ty));
                check_that(of == Some(ty), "the region does not begin with a reduction of this type")
            }
            InstData::LiveLoad { live_slot: live } => {
                let [ty] = check_count(&results)?;
                check_same("the result", code.kernel.live[*live].ty, ty)
            }
            InstData::LiveStore { live_slot: live, argument: arg } => {
                check_count::<0>(&results)?;
                check_same("the operand", code.kernel.live[*live].ty, f.ty(*arg))
            }
            InstData::CallHost { arguments: args, .. } => {
                let [ty] = check_count(&results)?;
                let mut types = args.iter().map(|&v| f.ty(v)).chain([ty]);
                check_that(types.all(|ty| !ty.is_ptr()), "a host function takes and gives no pointers")
            }
            InstData::Printf { format, arguments: args } => {
                let [ty] = check_count(&results)?;
                check_same("the result", Type::I32, ty)?;
                let needed: Vec<Type> = self.module.formats[*format]
                    .args
                    .iter()
                    .flat_map(|&(ty, n)| std::iter::repeat_n(ty, usize::from(n)))
                    .collect();
                check_that(needed.len() == args.len(), format_args!("the format takes {} operands", needed.len()))?;
                args.iter().zip(needed).try_for_each(|(&arg, ty)| check_same("the operand", ty, f.ty(arg)))
            }
        }
    }
}

fn check_terminator(f: &Function, term: &Terminator) -> Check {
    match term {
        Terminator::Branch { condition: cond, .. } => check_same("the condition", Type::BOOL, f.ty(*cond))?,
        Terminator::Switch { value, cases, .. } => {
            let ty = f.ty(*value);
            check_int(ty)?;
            let mut keys = HashSet::new();
            for &(key, _) in cases {
                check_that(key & ty.value_mask() == key, format_args!("case {key:#x} is no {ty}"))?;
                check_that(keys.insert(key), format_args!("case {key} stands twice"))?;
            }
        }
        _ => {}
    }
    for to in term.targets() {
        for (&arg, &param) in to.arguments.iter().zip(&f.blocks[to.block].params) {
            check_same(&format!("{}'s {param}", to.block), f.ty(param), f.ty(arg))?;
        }
    }
    Ok(())
}

fn fast_math(fmf: FastMath, ty: Type) -> Check {
    check_that(fmf == FastMath::default() || ty.is_float(), format_args!("fast-math flags mean nothing for {ty}"))
}

fn check_elements(types: &[Type], access: &Access) -> Check {
    types[1..].iter().try_for_each(|&ty| check_same("every element", types[0], ty))?;
    power_of_two(access.align)?;
    if access.atomic.is_some() {
        check_that(types.len() == 1, "an atomic access has one element")?;
        atomic_align(access.align, types[0])?;
    }
    Ok(())
}

fn is_float_op(op: BinaryOp) -> bool {
    use BinaryOp::*;
    match op {
        Fadd | Fsub | Fmul | Fdiv | QuotientEstimate | Frem | Fmin | Fmax | Copysign | Powered => true,
        Add | Sub | Mul | Udiv | Sdiv | Urem | Srem | And | Or | Xor | Shl | Lshr | Ashr | Smin | Smax | Umin
        | Umax | SaddSat | UaddSat | SsubSat | UsubSat => false,
    }
}

fn check_unary(op: UnaryOp, from: Type, to: Type) -> Check {
    use UnaryOp::*;
    let narrower = || check_that(to.bits() < from.bits(), format_args!("{to} is not below {from}"));
    let wider = || check_that(to.bits() > from.bits(), format_args!("{to} is not above {from}"));
    match op {
        Freeze => check_same("the operand", to, from),
        Fneg | Fabs | Sqrt | Floor | Ceil | Ftrunc | Rint | Round | Canonicalize => {
            check_float(to)?;
            check_same("the operand", to, from)
        }
        Rsqrt | RecipEstimate | RsqrtNative => {
            check_that(to == Type::F32, format_args!("{to} is not f32"))?;
            check_same("the operand", to, from)
        }
        Logb | Significand => {
            check_that(to == Type::F64, format_args!("{to} is not f64"))?;
            check_same("the operand", to, from)
        }
        RsqrtEstimate => {
            check_that(matches!(to, Type::F32 | Type::F64), format_args!("{to} is not f32 or f64"))?;
            check_same("the operand", to, from)
        }
        Popcount | Clz | Ctz | Bitreverse | Iabs => {
            check_int(to)?;
            check_same("the operand", to, from)
        }
        Bswap => {
            check_int(to)?;
            check_same("the operand", to, from)?;
            check_that(to.bits().is_multiple_of(16), format_args!("{to} has no byte pairs"))
        }
        Trunc => {
            check_int(from)?;
            check_int(to)?;
            narrower()
        }
        Zext | Sext => {
            check_int(from)?;
            check_int(to)?;
            wider()
        }
        FpTrunc => {
            check_float(from)?;
            check_float(to)?;
            narrower()
        }
        FpExt => {
            check_float(from)?;
            check_float(to)?;
            wider()
        }
        FpToSi | FpToUi | FpToSiSat | FpToUiSat => {
            check_float(from)?;
            check_int(to)
        }
        SiToFp | UiToFp => {
            check_int(from)?;
            check_float(to)
        }
        Bitcast => {
            check_that(!from.is_ptr() && !to.is_ptr(), "bitcast takes and gives no pointer")?;
            check_that(from.bits() == to.bits(), format_args!("{from} and {to} have different widths"))
        }
        PtrToInt => {
            check_ptr(from)?;
            check_int(to)
        }
        IntToPtr => {
            check_int(from)?;
            check_ptr(to)
        }
        SpaceCast => {
            check_ptr(from)?;
            check_ptr(to)
        }
        SpaceOf => {
            check_ptr(from)?;
            check_same("the result", Type::I32, to)
        }
    }
}
