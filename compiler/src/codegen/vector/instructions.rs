//! Instructions of a gang, other than loads and stores.

use super::values::Held;
use super::{Around, GangCode};
use crate::codegen::emit::Emitted;
use crate::codegen::groups;
use cranelift_entity::EntityRef;
use inkwell::builder::BuilderError;
use inkwell::values::{BasicValueEnum, IntValue, VectorValue};
use lockstep_ir::ir::{
    BinaryOp, FastMath, Inst, InstData, InstNode, IntFlags, Ordering, Query, TernaryOp, UnaryOp, Value,
};
use lockstep_ir::plan::Widening;
use lockstep_ir::plan::held_forms::tells_lanes;
use lockstep_ir::plan::value_form::Form;
use lockstep_protocol::configuration::Configuration;
use lockstep_protocol::types::{Space, Type};

/// The lanes of which a value is computed.
#[derive(Clone, Copy)]
enum Lanes<'ctx> {
    /// The value of lane 0.
    First,
    /// The one with this number (an i64).
    One(IntValue<'ctx>),
    /// The first one of a tile's row.
    Run(u32),
    /// All, as a vector.
    All,
}

impl<'ctx> GangCode<'_, 'ctx, '_> {
    pub(super) fn inst(&mut self, inst: Inst) -> Emitted<()> {
        let node = &self.body.insts[inst];
        self.loc = node.loc;
        self.around.emit.scopes.come_from(self.origins.of_access(&node.data));
        let values = self.results(inst)?;
        for (&result, value) in self.body.insts[inst].results.iter().zip(values) {
            let held = self.formed(result, value)?;
            debug_assert!(
                self.uses[result] == 0 || held.form() == self.plan.accesses.forms.of(self.body, result),
                "{result} is not held as the plan says"
            );
            self.values[result] = Some(held);
        }
        Ok(())
    }

    /// What is computed of a value, as it is to be held.
    pub(super) fn formed(&self, value: Value, held: Held<'ctx>) -> Emitted<Held<'ctx>> {
        Ok(match (self.form(value), held) {
            // Where the analysis knows more than can be seen here, an active lane's word is taken.
            (Form::Affine(stride), Held::Vector(vector)) => Held::Affine(self.base_in(vector, stride)?, stride),
            (Form::Vector, Held::Affine(base, stride)) if self.is_naive() => {
                Held::Vector(self.around.emit.spread(base, stride, self.around.width())?)
            }
            (Form::Vector, held @ Held::Runs(..)) if self.is_naive() => Held::Vector(self.spread(&held)?),
            (_, held) => held,
        })
    }

    fn is_naive(&self) -> bool {
        self.around.widening.configuration == Configuration::Naive
    }

    /// Emits an instruction.
    fn results(&self, inst: Inst) -> Emitted<Vec<Held<'ctx>>> {
        let Around { emit, storage, frame, group, .. } = self.around;
        let body = self.body;
        let node = &body.insts[inst];
        let result = node.results.first().map_or(Type::BOOL, |&result| self.ty(result));
        let uniform = |value: BasicValueEnum<'ctx>| Held::Affine(value, 0);
        let done = |emitted: Emitted<()>| emitted.map(|()| Vec::new());
        let held = match &node.data {
            InstData::Load { .. } => return self.load(inst),
            InstData::Store { args, .. } => return done(self.store(inst, args)),
            InstData::LiveLoad { live } => self.live_load(*live, result)?,
            InstData::LiveStore { live, arg } => return done(self.live_store(*live, *arg)),
            InstData::MemCopy { dst, src, len, overlap, volatile } => {
                let spaces = [self.space(*dst), self.space(*src)];
                let copy = |[dst, src, len]: [_; 3]| emit.copy(dst, src, len, spaces, *overlap, *volatile);
                return done(self.block_operation("copy", [*dst, *src, *len], copy));
            }
            InstData::MemSet { dst, byte, len, volatile } => {
                let space = self.space(*dst);
                let set = |[dst, byte, len]: [_; 3]| emit.set(dst, byte, len, space, *volatile);
                return done(self.block_operation("fill", [*dst, *byte, *len], set));
            }
            InstData::AtomicRmw { op, order, ptr, arg, .. } => return self.atomic_rmw(node, *op, *order, *ptr, *arg),
            InstData::AtomicCas { success, failure, ptr, expected, new, .. } => {
                let space = self.space(*ptr);
                let orders = [*success, *failure];
                self.note_lanes("atomic", "compare and exchange");
                let change = |lane| {
                    let target = self.lane_address(*ptr, lane)?;
                    let operands = [self.lane(*expected, lane)?, self.lane(*new, lane)?];
                    Ok(emit.atomic_cas(orders, result, target, space, operands)?.to_vec())
                };
                return self.lanes(node, change);
            }
            InstData::Printf { format, args } => {
                self.note_lanes("printf", "output in order");
                let print = |lane| Ok(vec![emit.printf(frame, format.as_u32(), &self.typed(args, lane)?)?.into()]);
                return self.lanes(node, print);
            }
            InstData::CallHost { name, args } => {
                let call = |lane| Ok(vec![emit.call_host(name, &self.typed(args, lane)?, result)?]);
                if args.iter().all(|&arg| self.is_uniform(arg)) {
                    self.note("call", "uniform", name);
                    let values = call(emit.const64(0))?;
                    return Ok(values.into_iter().map(uniform).collect());
                }
                self.note_lanes("call", &format!("{name} has no vector form"));
                return self.lanes(node, call);
            }
            InstData::Fence { order } => return done(emit.fence(*order)),
            InstData::Query { query, dim } if self.is_in_tile(*query, *dim) => self.place_in_tile(*query, *dim)?,
            InstData::Query { query, dim } => {
                let first = groups::query(emit, frame, group, &self.gang.first, *query, *dim);
                Held::Affine(first.into(), self.is_lanes(*query, *dim).into())
            }
            InstData::SlotAddr { slot } => {
                let first = self.slots[*slot].ok_or(BuilderError::UnsetPosition)?;
                Held::Affine(first.into(), storage.strides[*slot] as i64)
            }
            InstData::LocalAddr { local } => uniform(frame.locals[local.index()].into()),
            InstData::GlobalAddr { global } => {
                let address = frame.globals[*global];
                uniform(address.ok_or(BuilderError::UnsetPosition)?.into())
            }
            InstData::Clock => uniform(emit.clock()?.into()),
            InstData::Combined => uniform(group.combined.ok_or(BuilderError::UnsetPosition)?),
            InstData::Any { cond } => uniform(self.any_active(*cond)?.into()),
            InstData::Ballot { cond } => uniform(self.bits(self.holds(*cond)?)?.into()),
            InstData::LaneOf { arg, lane } => uniform(self.lane(*arg, self.first(*lane)?.into_int_value())?),
            InstData::Across { how, op, cluster, arg } => self.across(*how, *op, *cluster, *arg)?,
            InstData::Shuffle { arg, lane } => self.lanes_at(*arg, *lane)?,
            InstData::Yield => return done(emit.let_others_go_on()),
            InstData::GangBarrier => return done(emit.fence(Ordering::AcqRel)),
            InstData::Put { into, lane, value } => {
                let number = self.first(*lane)?.into_int_value();
                let value = self.lane(*value, number)?;
                Held::Vector(emit.builder.build_insert_element(self.vector(*into)?, value, number, "")?)
            }
            // A kernel that still has barriers is not ready for code generation.
            InstData::Barrier | InstData::Collective { .. } => return Err(BuilderError::UnsetPosition),
            InstData::Unary { op: UnaryOp::SpaceOf, arg, .. } => {
                if !self.is_uniform(*arg) {
                    let space = |lane| {
                        let address = self.lane(*arg, lane)?.into_pointer_value();
                        Ok(vec![emit.space_of(frame, address)?.into()])
                    };
                    return self.lanes(node, space);
                }
                uniform(emit.space_of(frame, self.first(*arg)?.into_pointer_value())?.into())
            }
            // The analysis does not know the addresses of slots; constant distances stay.
            InstData::PtrAdd { base, offset, inbounds } if self.are_affine(*base, *offset) => {
                let inbounds = *inbounds && !self.speculates();
                let (Held::Affine(base, s), Held::Affine(offset, t)) = (self.held(*base)?, self.held(*offset)?) else {
                    return Err(BuilderError::UnsetPosition);
                };
                let sum = emit.offset(base.into_pointer_value(), offset.into_int_value(), inbounds)?;
                Held::Affine(sum.into(), s.wrapping_add(t))
            }
            data => match self.form(node.results[0]) {
                // Lane 0 may be where the program does not come, and off the line of those where it does.
                Form::Affine(stride) if self.plan.by_active.contains(node.results[0]) => {
                    let lane = self.active_lane()?;
                    let value = self.compute(data, node, Lanes::One(lane))?;
                    Held::Affine(self.base_of(value, lane, stride)?, stride)
                }
                Form::Affine(stride) => Held::Affine(self.compute(data, node, Lanes::First)?, stride),
                Form::Runs(stride) if self.plan.accesses.forms.has_alike_rows(node.results[0]) => {
                    self.runs(vec![self.compute(data, node, Lanes::Run(0))?], stride)?
                }
                Form::Runs(stride) => {
                    let run = |run| self.compute(data, node, Lanes::Run(run));
                    self.runs((0..self.around.runs()).map(run).collect::<Emitted<_>>()?, stride)?
                }
                Form::Vector if self.all_uniform(data) => Held::Affine(self.compute(data, node, Lanes::First)?, 0),
                Form::Vector => Held::Vector(self.compute(data, node, Lanes::All)?.into_vector_value()),
            },
        };
        Ok(vec![held])
    }

    /// Whether a query tells each lane one more than the one before.
    pub(super) fn is_lanes(&self, query: Query, dim: u8) -> bool {
        let Widening { layout, run, .. } = self.around.widening;
        tells_lanes(query, dim, *layout, run.is_some())
    }

    pub(super) fn is_uniform(&self, value: Value) -> bool {
        matches!(self.held(value), Ok(Held::Affine(_, 0)))
    }

    fn are_affine(&self, x: Value, y: Value) -> bool {
        matches!((self.held(x), self.held(y)), (Ok(Held::Affine(..)), Ok(Held::Affine(..))))
    }

    fn all_uniform(&self, data: &InstData) -> bool {
        let mut uniform = true;
        data.for_each_arg(|arg| uniform &= self.is_uniform(arg));
        uniform
    }

    /// What computes a value from values alone.
    fn compute(&self, data: &InstData, node: &InstNode, lanes: Lanes<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let emit = self.around.emit;
        let speculates = self.speculates();
        // A promise about the program says nothing about lanes that the program does not send here.
        let int_flags = |flags| if speculates { IntFlags::default() } else { flags };
        // nnan and ninf make poison of the others.
        let fast = |fmf: FastMath| if speculates { fmf.with_all_values() } else { fmf };
        let get = |arg| match lanes {
            Lanes::First => self.first(arg),
            Lanes::One(lane) => self.lane(arg, lane),
            Lanes::Run(run) => self.in_run(arg, run),
            Lanes::All => Ok(self.vector(arg)?.into()),
        };
        let estimates = emit.target.estimates && matches!(lanes, Lanes::All);
        let frozen = |value| if speculates { self.freeze(value) } else { Ok(value) };
        let body_const = |value| self.body.const_bits(value);
        let ty = node.results.first().map_or(Type::BOOL, |&result| self.ty(result));
        match data {
            InstData::Unary { op: UnaryOp::Rsqrt, arg, .. } if estimates => {
                Ok(emit.reciprocal_root(self.vector(*arg)?)?.into())
            }
            InstData::Unary { op: UnaryOp::Sqrt, fmf, arg }
                if estimates && ty == Type::F32 && fmf.allows_reciprocals() =>
            {
                Ok(emit.rough_root(self.vector(*arg)?)?.into())
            }
            InstData::Binary { op: BinaryOp::Fdiv, fmf, args: [x, y], .. }
                if estimates && ty == Type::F32 && fmf.allows_reciprocals() =>
            {
                Ok(emit.rough_quotient(self.vector(*x)?, self.vector(*y)?)?.into())
            }
            InstData::Unary { op, fmf, arg } => {
                let value = emit.unary(*op, fast(*fmf), self.ty(*arg), ty, get(*arg)?)?;
                if matches!(op, UnaryOp::FpToSi | UnaryOp::FpToUi) { frozen(value) } else { Ok(value) }
            }
            InstData::Binary { op, flags, fmf, args: [x, y] } => {
                use BinaryOp::{And, Ashr, Lshr, Or, Sdiv, Shl, Srem, Udiv, Urem, Xor};
                let mut operands = [get(*x)?, get(*y)?];
                let divides = matches!(op, Udiv | Sdiv | Urem | Srem);
                // A mask must not become poison where a lane is not active, nor may such lanes divide by it.
                if self.masked && (divides || ty == Type::BOOL && matches!(op, And | Or | Xor)) {
                    operands = [self.freeze(operands[0])?, self.freeze(operands[1])?];
                }
                if let [BasicValueEnum::VectorValue(x), BasicValueEnum::VectorValue(divisor)] = operands
                    && self.divides_as_floats(*op, ty, *y)
                {
                    return self.divide_as_floats(*op, ty, [x, divisor]);
                }
                let value = emit.binary(*op, int_flags(*flags), fast(*fmf), operands)?;
                let within = body_const(*y).is_some_and(|by| by < u128::from(ty.bits()));
                if matches!(op, Shl | Lshr | Ashr) && !within { frozen(value) } else { Ok(value) }
            }
            InstData::Ternary { op, fmf, args: [x, y, z] } => {
                let choice = *op == TernaryOp::Select && self.is_uniform(*x);
                let x = if choice { self.first(*x)? } else { get(*x)? };
                emit.ternary(*op, fast(*fmf), ty, [x, get(*y)?, get(*z)?])
            }
            InstData::Icmp { cc, args: [x, y] } => {
                if matches!(lanes, Lanes::All)
                    && let Some(found) = self.compare_with_bound(*cc, [*x, *y])?
                {
                    return Ok(found.into());
                }
                emit.icmp(*cc, [get(*x)?, get(*y)?])
            }
            InstData::Fcmp { cc, fmf, args: [x, y] } => emit.fcmp(*cc, fast(*fmf), [get(*x)?, get(*y)?]),
            InstData::PtrAdd { base, offset, inbounds } => {
                let inbounds = *inbounds && !speculates;
                if !matches!(lanes, Lanes::All) {
                    let (base, offset) = (get(*base)?, get(*offset)?);
                    return Ok(emit.offset(base.into_pointer_value(), offset.into_int_value(), inbounds)?.into());
                }
                // A common base stays a scalar: the address mode of a gather.
                let part = |arg| if self.is_uniform(arg) { self.first(arg) } else { Ok(self.vector(arg)?.into()) };
                emit.offsets(part(*base)?, part(*offset)?, inbounds)
            }
            // Everything else has been dealt with.
            _ => Err(BuilderError::UnsetPosition),
        }
    }

    /// An operation on blocks of memory, once if all lanes do the same.
    fn block_operation(
        &self,
        kind: &'static str,
        args: [Value; 3],
        work: impl Fn([BasicValueEnum<'ctx>; 3]) -> Emitted<()>,
    ) -> Emitted<()> {
        let zero = self.around.emit.const64(0);
        let operands = |lane| -> Emitted<[BasicValueEnum<'ctx>; 3]> {
            Ok([self.lane(args[0], lane)?, self.lane(args[1], lane)?, self.lane(args[2], lane)?])
        };
        let one = |lane| {
            work(operands(lane)?)?;
            Ok(Vec::new())
        };
        if args.iter().all(|&arg| self.is_uniform(arg)) {
            self.note(kind, "uniform", "");
            self.guarded(self.mask()?, || one(zero))?;
        } else {
            self.note_lanes(kind, "a block of memory for each");
            self.each_lane(self.mask()?, &[], one)?;
        }
        Ok(())
    }

    fn typed(&self, args: &[Value], lane: IntValue<'ctx>) -> Emitted<Vec<(Type, BasicValueEnum<'ctx>)>> {
        args.iter().map(|&arg| Ok((self.ty(arg), self.lane(arg, lane)?))).collect()
    }

    /// An instruction's results by what each active lane does.
    pub(super) fn lanes(
        &self,
        node: &InstNode,
        work: impl Fn(IntValue<'ctx>) -> Emitted<Vec<BasicValueEnum<'ctx>>>,
    ) -> Emitted<Vec<Held<'ctx>>> {
        let types: Vec<Type> = node.results.iter().map(|&result| self.ty(result)).collect();
        let vectors = self.each_lane(self.mask()?, &types, work)?;
        Ok(vectors.into_iter().map(Held::Vector).collect())
    }

    /// Lane 0's value of an affine value of which the active lanes' are known.
    fn base_in(&self, vector: VectorValue<'ctx>, stride: i64) -> Emitted<BasicValueEnum<'ctx>> {
        let emit = self.around.emit;
        // Without a mask of its own, a block is run by lane 0.
        if self.plan.masks[self.block].is_none() {
            return emit.builder.build_extract_element(vector, emit.const64(0), "");
        }
        let mask = self.mask()?;
        let base = self.guarded(mask, || {
            let lane = self.last_lane(mask)?;
            let value = emit.builder.build_extract_element(vector, lane, "")?;
            Ok(vec![self.base_of(value, lane, stride)?])
        })?;
        base.into_iter().next().ok_or(BuilderError::UnsetPosition)
    }

    pub(super) fn space(&self, ptr: Value) -> Space {
        match self.ty(ptr) {
            Type::Ptr(space) => space,
            _ => Space::Generic,
        }
    }
}
