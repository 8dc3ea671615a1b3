//! The types of every operation's operands and results, and its flags.

use super::{Code, Verifier};
use crate::ir::*;
use lockstep_protocol::types::{Space, Type};
use std::collections::HashSet;
use std::fmt::Display;

/// The first rule an operation breaks.
type Check = Result<(), String>;

/// The message becomes text only where it is needed: checks that hold are many.
fn check(holds: bool, message: impl Display) -> Check {
    if holds { Ok(()) } else { Err(message.to_string()) }
}

fn same(what: &str, a: Type, b: Type) -> Check {
    check(a == b, format_args!("{what} must be {a}, not {b}"))
}

fn int(ty: Type) -> Check {
    check(ty.is_int(), format_args!("{ty} is no integer type"))
}

fn float(ty: Type) -> Check {
    check(ty.is_float(), format_args!("{ty} is no float type"))
}

fn ptr(ty: Type) -> Check {
    check(ty.is_ptr(), format_args!("{ty} is no pointer type"))
}

fn power_of_two(align: u32) -> Check {
    check(align.is_power_of_two(), format_args!("alignment {align} is no power of two"))
}

fn atomic_align(align: u32, ty: Type) -> Check {
    power_of_two(align)?;
    check(align >= ty.bytes(), format_args!("an atomic {ty} needs alignment {}", ty.bytes()))
}

fn count<const N: usize>(results: &[Type]) -> Result<[Type; N], String> {
    results.try_into().map_err(|_| format!("{N} results are needed, here are {}", results.len()))
}

impl Verifier<'_> {
    pub(super) fn code_types(&mut self, region: Region, code: &Code<'_>) {
        let (kernel, f) = (code.kernel, code.f);
        let entry = f.entry();
        self.place = format!("{region}, {entry}");
        let params: Vec<Type> = f.blocks[entry].params.iter().map(|&v| f.ty(v)).collect();
        let inputs: Vec<Type> = kernel.inputs.iter().map(|&(_, ty)| ty).collect();
        if params != inputs {
            self.error(&block_text(f, entry), "the entry's parameters are not the kernel's inputs");
        }
        for &block in &f.layout {
            self.place = format!("{region}, {block}");
            for &inst in &f.blocks[block].insts {
                if let Err(message) = self.inst(code, inst) {
                    self.error(&inst_text(f, inst), message);
                }
            }
            if let Err(message) = terminator(f, &f.blocks[block].term) {
                self.error(&term_text(f, block), message);
            }
        }
    }

    fn inst(&self, code: &Code<'_>, inst: Inst) -> Check {
        let f = code.f;
        let node = &f.insts[inst];
        let results: Vec<Type> = node.results.iter().map(|&v| f.ty(v)).collect();
        match &node.data {
            InstData::Unary { op, fmf, arg } => {
                let [to] = count(&results)?;
                unary(*op, f.ty(*arg), to)?;
                fast_math(*fmf, to)
            }
            InstData::Binary { op, flags, fmf, args } => {
                let [ty] = count(&results)?;
                if is_float_op(*op) { float(ty) } else { int(ty) }?;
                check(*op != BinaryOp::QuotientEstimate || ty == Type::F32, format_args!("{ty} is not f32"))?;
                check(*op != BinaryOp::Powered || ty == Type::F64, format_args!("{ty} is not f64"))?;
                args.iter().try_for_each(|&arg| same("the operand", ty, f.ty(arg)))?;
                fast_math(*fmf, ty)?;
                use BinaryOp::{Add, Mul, Shl, Sub};
                check(
                    *flags == IntFlags::default() || matches!(op, Add | Sub | Mul | Shl),
                    format_args!("{} takes no nsw or nuw", op.name()),
                )
            }
            InstData::Ternary { op, fmf, args } => {
                let [ty] = count(&results)?;
                let operands = match op {
                    TernaryOp::Select => {
                        same("the condition", Type::BOOL, f.ty(args[0]))?;
                        &args[1..]
                    }
                    TernaryOp::Fma | TernaryOp::FmulAdd => {
                        float(ty)?;
                        &args[..]
                    }
                    TernaryOp::Scaled => {
                        check(matches!(ty, Type::F32 | Type::F64), format_args!("{ty} is not f32 or f64"))?;
                        &args[..]
                    }
                    TernaryOp::Fshl | TernaryOp::Fshr => {
                        int(ty)?;
                        &args[..]
                    }
                };
                fast_math(*fmf, ty)?;
                operands.iter().try_for_each(|&arg| same("the operand", ty, f.ty(arg)))
            }
            InstData::Icmp { args, .. } => {
                let [ty] = count(&results)?;
                same("the result", Type::BOOL, ty)?;
                let operand = f.ty(args[0]);
                check(!operand.is_float(), format_args!("icmp does not compare {operand}"))?;
                same("the second operand", operand, f.ty(args[1]))
            }
            InstData::Fcmp { args, .. } => {
                let [ty] = count(&results)?;
                same("the result", Type::BOOL, ty)?;
                float(f.ty(args[0]))?;
                same("the second operand", f.ty(args[0]), f.ty(args[1]))
            }
            InstData::PtrAdd { base, offset, .. } => {
                let [ty] = count(&results)?;
                ptr(ty)?;
                same("the base", ty, f.ty(*base))?;
                same("the offset", Type::I64, f.ty(*offset))
            }
            InstData::Load { ptr: place, access, .. } => {
                ptr(f.ty(*place))?;
                check(!results.is_empty(), "a load has at least one result")?;
                check(!matches!(access.atomic, Some(Ordering::Release | Ordering::AcqRel)), "a load does not release")?;
                elements(&results, access)
            }
            InstData::Store { ptr: place, access, args, .. } => {
                count::<0>(&results)?;
                ptr(f.ty(*place))?;
                check(!args.is_empty(), "a store has at least one value")?;
                check(
                    !matches!(access.atomic, Some(Ordering::Acquire | Ordering::AcqRel)),
                    "a store does not acquire",
                )?;
                let types: Vec<Type> = args.iter().map(|&v| f.ty(v)).collect();
                elements(&types, access)
            }
            InstData::MemCopy { dst, src, len, .. } => {
                count::<0>(&results)?;
                ptr(f.ty(*dst))?;
                ptr(f.ty(*src))?;
                same("the length", Type::I64, f.ty(*len))
            }
            InstData::MemSet { dst, byte, len, .. } => {
                count::<0>(&results)?;
                ptr(f.ty(*dst))?;
                same("the byte", Type::I8, f.ty(*byte))?;
                same("the length", Type::I64, f.ty(*len))
            }
            InstData::AtomicRmw { op, align, ptr: place, arg, .. } => {
                let [ty] = count(&results)?;
                ptr(f.ty(*place))?;
                same("the operand", ty, f.ty(*arg))?;
                use AtomicOp::{Fadd, Fmax, Fmin, Fsub, Xchg};
                match op {
                    Xchg => Ok(()),
                    Fadd | Fsub | Fmax | Fmin => float(ty),
                    _ => int(ty),
                }?;
                atomic_align(*align, ty)
            }
            InstData::AtomicCas { failure, align, ptr: place, expected, new, .. } => {
                let [ty, stored] = count(&results)?;
                ptr(f.ty(*place))?;
                same("the second result", Type::BOOL, stored)?;
                check(!ty.is_float(), format_args!("atomic_cas does not compare {ty}"))?;
                same("the expected value", ty, f.ty(*expected))?;
                same("the new value", ty, f.ty(*new))?;
                check(
                    !matches!(failure, Ordering::Release | Ordering::AcqRel),
                    "a failure stores nothing and so cannot release",
                )?;
                atomic_align(*align, ty)
            }
            InstData::Fence { order } => {
                count::<0>(&results)?;
                check(*order != Ordering::Relaxed, "a relaxed fence orders nothing")
            }
            InstData::Query { query, dim } => {
                let [ty] = count(&results)?;
                if *query == Query::WorkDim {
                    check(*dim == 0, "work_dim has no dimension but 0")?;
                    same("the result", Type::I32, ty)
                } else {
                    check(*query != Query::LinearId || *dim == 0, "linear_id has no dimension but 0")?;
                    check(*dim < 3, format_args!("there is no dimension {dim}"))?;
                    same("the result", Type::I64, ty)
                }
            }
            InstData::SlotAddr { .. } => {
                let [ty] = count(&results)?;
                same("the result", Type::Ptr(Space::Private), ty)
            }
            InstData::LocalAddr { .. } => {
                let [ty] = count(&results)?;
                same("the result", Type::Ptr(Space::Local), ty)
            }
            InstData::GlobalAddr { global } => {
                let [ty] = count(&results)?;
                let space = self.module.globals[*global].space;
                same("the result", Type::Ptr(space), ty)
            }
            InstData::Any { cond } => {
                let [ty] = count(&results)?;
                same("the result", Type::BOOL, ty)?;
                same("the condition", Type::BOOL, f.ty(*cond))
            }
            InstData::Ballot { cond } => {
                let [ty] = count(&results)?;
                same("the result", Type::I64, ty)?;
                same("the condition", Type::BOOL, f.ty(*cond))
            }
            InstData::LaneOf { arg, lane } | InstData::Shuffle { arg, lane } => {
                let [ty] = count(&results)?;
                same("the operand", ty, f.ty(*arg))?;
                same("the lane", Type::I64, f.ty(*lane))
            }
            InstData::Put { into, lane, value } => {
                let [ty] = count(&results)?;
                same("the operand", ty, f.ty(*into))?;
                same("the lane", Type::I64, f.ty(*lane))?;
                same("the value", ty, f.ty(*value))
            }
            InstData::Barrier | InstData::GangBarrier | InstData::Yield => count::<0>(&results).map(drop),
            InstData::Collective { op, arg, .. } | InstData::Across { op, arg, .. } => {
                let [ty] = count(&results)?;
                same("the operand", ty, f.ty(*arg))?;
                check(op.identity(ty).is_some(), format_args!("{} of {ty} is not collective", op.name()))
            }
            InstData::Clock => {
                let [ty] = count(&results)?;
                same("the result", Type::I64, ty)
            }
            InstData::Combined => {
                let [ty] = count(&results)?;
                let combine = code.kernel.combines[code.region];
                let of = combine.filter(|combine| combine.how == Collect::Reduce);
                let of = of.and_then(|combine| code.kernel.live.get(combine.live).map(|data| data.ty));
                check(of == Some(ty), "the region does not begin with a reduction of this type")
            }
            InstData::LiveLoad { live } => {
                let [ty] = count(&results)?;
                same("the result", code.kernel.live[*live].ty, ty)
            }
            InstData::LiveStore { live, arg } => {
                count::<0>(&results)?;
                same("the operand", code.kernel.live[*live].ty, f.ty(*arg))
            }
            InstData::CallHost { args, .. } => {
                let [ty] = count(&results)?;
                let mut types = args.iter().map(|&v| f.ty(v)).chain([ty]);
                check(types.all(|ty| !ty.is_ptr()), "a host function takes and gives no pointers")
            }
            InstData::Printf { format, args } => {
                let [ty] = count(&results)?;
                same("the result", Type::I32, ty)?;
                let needed: Vec<Type> = self.module.formats[*format]
                    .args
                    .iter()
                    .flat_map(|&(ty, n)| std::iter::repeat_n(ty, usize::from(n)))
                    .collect();
                check(needed.len() == args.len(), format_args!("the format takes {} operands", needed.len()))?;
                args.iter().zip(needed).try_for_each(|(&arg, ty)| same("the operand", ty, f.ty(arg)))
            }
        }
    }
}

fn terminator(f: &Function, term: &Terminator) -> Check {
    match term {
        Terminator::Branch { cond, .. } => same("the condition", Type::BOOL, f.ty(*cond))?,
        Terminator::Switch { value, cases, .. } => {
            let ty = f.ty(*value);
            int(ty)?;
            let mut keys = HashSet::new();
            for &(key, _) in cases {
                check(key & ty.mask() == key, format_args!("case {key:#x} is no {ty}"))?;
                check(keys.insert(key), format_args!("case {key} stands twice"))?;
            }
        }
        _ => {}
    }
    for to in term.targets() {
        for (&arg, &param) in to.args.iter().zip(&f.blocks[to.block].params) {
            same(&format!("{}'s {param}", to.block), f.ty(param), f.ty(arg))?;
        }
    }
    Ok(())
}

fn fast_math(fmf: FastMath, ty: Type) -> Check {
    check(fmf == FastMath::default() || ty.is_float(), format_args!("fast-math flags mean nothing for {ty}"))
}

fn elements(types: &[Type], access: &Access) -> Check {
    types[1..].iter().try_for_each(|&ty| same("every element", types[0], ty))?;
    power_of_two(access.align)?;
    if access.atomic.is_some() {
        check(types.len() == 1, "an atomic access has one element")?;
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

fn unary(op: UnaryOp, from: Type, to: Type) -> Check {
    use UnaryOp::*;
    let narrower = || check(to.bits() < from.bits(), format_args!("{to} is not below {from}"));
    let wider = || check(to.bits() > from.bits(), format_args!("{to} is not above {from}"));
    match op {
        Freeze => same("the operand", to, from),
        Fneg | Fabs | Sqrt | Floor | Ceil | Ftrunc | Rint | Round | Canonicalize => {
            float(to)?;
            same("the operand", to, from)
        }
        Rsqrt | RecipEstimate | RsqrtNative => {
            check(to == Type::F32, format_args!("{to} is not f32"))?;
            same("the operand", to, from)
        }
        Logb | Significand => {
            check(to == Type::F64, format_args!("{to} is not f64"))?;
            same("the operand", to, from)
        }
        RsqrtEstimate => {
            check(matches!(to, Type::F32 | Type::F64), format_args!("{to} is not f32 or f64"))?;
            same("the operand", to, from)
        }
        Popcount | Clz | Ctz | Bitreverse | Iabs => {
            int(to)?;
            same("the operand", to, from)
        }
        Bswap => {
            int(to)?;
            same("the operand", to, from)?;
            check(to.bits().is_multiple_of(16), format_args!("{to} has no byte pairs"))
        }
        Trunc => {
            int(from)?;
            int(to)?;
            narrower()
        }
        Zext | Sext => {
            int(from)?;
            int(to)?;
            wider()
        }
        FpTrunc => {
            float(from)?;
            float(to)?;
            narrower()
        }
        FpExt => {
            float(from)?;
            float(to)?;
            wider()
        }
        FpToSi | FpToUi | FpToSiSat | FpToUiSat => {
            float(from)?;
            int(to)
        }
        SiToFp | UiToFp => {
            int(from)?;
            float(to)
        }
        Bitcast => {
            check(!from.is_ptr() && !to.is_ptr(), "bitcast takes and gives no pointer")?;
            check(from.bits() == to.bits(), format_args!("{from} and {to} have different widths"))
        }
        PtrToInt => {
            ptr(from)?;
            int(to)
        }
        IntToPtr => {
            int(from)?;
            ptr(to)
        }
        SpaceCast => {
            ptr(from)?;
            ptr(to)
        }
        SpaceOf => {
            ptr(from)?;
            same("the result", Type::I32, to)
        }
    }
}
