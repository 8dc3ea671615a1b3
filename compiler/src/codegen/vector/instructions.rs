//! Instructions of a gang, other than loads and stores.

use super::values::LaneValue;
use super::{EmitContext, VectorEmitter};
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

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    pub(super) fn emit_inst(&mut self, inst: Inst) -> Emitted<()> {
        let node = &self.body.insts[inst];
        self.location = node.location;
        self.around.emitter.scopes.come_from(self.origins.of_access(&node.data));
        let values = self.emit_results(inst)?;
        for (&result, value) in self.body.insts[inst].results.iter().zip(values) {
            let held = self.in_planned_form(result, value)?;
            debug_assert!(
                self.uses[result] == 0 || held.form() == self.plan.accesses.forms.form_of(self.body, result),
                "{result} is not held as the plan says"
            );
            self.values[result] = Some(held);
        }
        Ok(())
    }

    /// What is computed of a value, as it is to be held.
    pub(super) fn in_planned_form(&self, value: Value, held: LaneValue<'ctx>) -> Emitted<LaneValue<'ctx>> {
        Ok(match (self.form_of(value), held) {
            // Where the analysis knows more than can be seen here, an active lane's word is taken.
            (Form::Affine(stride), LaneValue::Vector(vector)) => {
                LaneValue::Affine(self.base_in(vector, stride)?, stride)
            }
            (Form::Vector, LaneValue::Affine(base, stride)) if self.is_naive() => {
                LaneValue::Vector(self.around.emitter.materialize_affine(base, stride, self.around.width())?)
            }
            (Form::Vector, held @ LaneValue::Runs(..)) if self.is_naive() => {
                LaneValue::Vector(self.materialize(&held)?)
            }
            (_, held) => held,
        })
    }

    fn is_naive(&self) -> bool {
        self.around.widening.configuration == Configuration::Naive
    }

    /// Emits an instruction.
    fn emit_results(&self, inst: Inst) -> Emitted<Vec<LaneValue<'ctx>>> {
        let EmitContext { emitter: emit, storage, frame, group, .. } = self.around;
        let body = self.body;
        let node = &body.insts[inst];
        let result = node.results.first().map_or(Type::BOOL, |&result| self.type_of(result));
        let uniform = |value: BasicValueEnum<'ctx>| LaneValue::Affine(value, 0);
        let done = |emitted: Emitted<()>| emitted.map(|()| Vec::new());
        let held = match &node.data {
            InstData::Load { .. } => return self.emit_load(inst),
            InstData::Store { arguments: args, .. } => return done(self.emit_store(inst, args)),
            InstData::LiveLoad { live_slot: live } => self.live_load(*live, result)?,
            InstData::LiveStore { live_slot: live, argument: arg } => return done(self.live_store(*live, *arg)),
            InstData::MemCopy { destination: dst, source: src, length: len, overlap, volatile } => {
                let spaces = [self.space_of(*dst), self.space_of(*src)];
                let copy = |[dst, src, len]: [_; 3]| emit.copy_bytes(dst, src, len, spaces, *overlap, *volatile);
                return done(self.block_operation("copy", [*dst, *src, *len], copy));
            }
            InstData::MemSet { destination: dst, byte, length: len, volatile } => {
                let space = self.space_of(*dst);
                let set = |[dst, byte, len]: [_; 3]| emit.set_bytes(dst, byte, len, space, *volatile);
                return done(self.block_operation("fill", [*dst, *byte, *len], set));
            }
            InstData::AtomicRmw { opcode: op, order, pointer: ptr, argument: arg, .. } => {
                return self.atomic_rmw(node, *op, *order, *ptr, *arg);
            }
            InstData::AtomicCas { success, failure, pointer: ptr, expected, new, .. } => {
                let space = self.space_of(*ptr);
                let orders = [*success, *failure];
                self.note_lanes("atomic", "compare and exchange");
                let change = |lane| {
                    let target = self.lane_address(*ptr, lane)?;
                    let operands = [self.read_lane(*expected, lane)?, self.read_lane(*new, lane)?];
                    Ok(emit.atomic_cas(orders, result, target, space, operands)?.to_vec())
                };
                return self.emit_by_lane(node, change);
            }
            InstData::Printf { format, arguments: args } => {
                self.note_lanes("printf", "output in order");
                let print =
                    |lane| Ok(vec![emit.call_printf(frame, format.as_u32(), &self.typed_values(args, lane)?)?.into()]);
                return self.emit_by_lane(node, print);
            }
            InstData::CallHost { name, arguments: args } => {
                let call = |lane| Ok(vec![emit.call_host(name, &self.typed_values(args, lane)?, result)?]);
                if args.iter().all(|&arg| self.is_uniform(arg)) {
                    self.note_access("call", "uniform", name);
                    let values = call(emit.const64(0))?;
                    return Ok(values.into_iter().map(uniform).collect());
                }
                self.note_lanes("call", &format!("{name} has no vector form"));
                return self.emit_by_lane(node, call);
            }
            InstData::Fence { order } => return done(emit.fence(*order)),
            InstData::Query { query, dimension: dim } if self.is_in_tile(*query, *dim) => {
                self.place_in_tile(*query, *dim)?
            }
            InstData::Query { query, dimension: dim } => {
                let first = groups::answer_query(emit, frame, group, &self.gang.first, *query, *dim);
                LaneValue::Affine(first.into(), self.is_lanes(*query, *dim).into())
            }
            InstData::SlotAddr { slot } => {
                let first = self.slots[*slot].ok_or(BuilderError::UnsetPosition)?;
                LaneValue::Affine(first.into(), storage.strides[*slot] as i64)
            }
            InstData::LocalAddr { local } => uniform(frame.locals[local.index()].into()),
            InstData::GlobalAddr { global } => {
                let address = frame.globals[*global];
                uniform(address.ok_or(BuilderError::UnsetPosition)?.into())
            }
            InstData::Clock => uniform(emit.read_clock()?.into()),
            InstData::Combined => uniform(group.combined.ok_or(BuilderError::UnsetPosition)?),
            InstData::Any { condition: cond } => uniform(self.any_active(*cond)?.into()),
            InstData::Ballot { condition: cond } => uniform(self.lanes_as_bits(self.lanes_where(*cond)?)?.into()),
            InstData::LaneOf { argument: arg, lane } => {
                uniform(self.read_lane(*arg, self.lane_zero(*lane)?.into_int_value())?)
            }
            InstData::Across { collective: how, opcode: op, cluster, argument: arg } => {
                self.combine_active(*how, *op, *cluster, *arg)?
            }
            InstData::Shuffle { argument: arg, lane } => self.lanes_at(*arg, *lane)?,
            InstData::Yield => return done(emit.let_others_go_on()),
            InstData::GangBarrier => return done(emit.fence(Ordering::AcqRel)),
            InstData::Put { into, lane, value } => {
                let number = self.lane_zero(*lane)?.into_int_value();
                let value = self.read_lane(*value, number)?;
                LaneValue::Vector(emit.builder.build_insert_element(self.as_vector(*into)?, value, number, "")?)
            }
            // A kernel that still has barriers is not ready for code generation.
            InstData::Barrier | InstData::Collective { .. } => return Err(BuilderError::UnsetPosition),
            InstData::Unary { opcode: UnaryOp::SpaceOf, argument: arg, .. } => {
                if !self.is_uniform(*arg) {
                    let space = |lane| {
                        let address = self.read_lane(*arg, lane)?.into_pointer_value();
                        Ok(vec![emit.space_of(frame, address)?.into()])
                    };
                    return self.emit_by_lane(node, space);
                }
                uniform(emit.space_of(frame, self.lane_zero(*arg)?.into_pointer_value())?.into())
            }
            // The analysis does not know the addresses of slots; constant distances stay.
            InstData::PtrAdd { base, offset, inbounds } if self.are_affine(*base, *offset) => {
                let inbounds = *inbounds && !self.speculates();
                let (LaneValue::Affine(base, s), LaneValue::Affine(offset, t)) =
                    (self.held_value(*base)?, self.held_value(*offset)?)
                else {
                    return Err(BuilderError::UnsetPosition);
                };
                let sum = emit.offset_address(base.into_pointer_value(), offset.into_int_value(), inbounds)?;
                LaneValue::Affine(sum.into(), s.wrapping_add(t))
            }
            data => match self.form_of(node.results[0]) {
                // Lane 0 may be where the program does not come, and off the line of those where it does.
                Form::Affine(stride) if self.plan.by_active.contains(node.results[0]) => {
                    let lane = self.active_lane()?;
                    let value = self.compute_value(data, node, Lanes::One(lane))?;
                    LaneValue::Affine(self.base_of(value, lane, stride)?, stride)
                }
                Form::Affine(stride) => LaneValue::Affine(self.compute_value(data, node, Lanes::First)?, stride),
                Form::Runs(stride) if self.plan.accesses.forms.has_alike_rows(node.results[0]) => {
                    self.value_by_row(vec![self.compute_value(data, node, Lanes::Run(0))?], stride)?
                }
                Form::Runs(stride) => {
                    let run = |run| self.compute_value(data, node, Lanes::Run(run));
                    self.value_by_row((0..self.around.row_count()).map(run).collect::<Emitted<_>>()?, stride)?
                }
                Form::Vector if self.all_uniform(data) => {
                    LaneValue::Affine(self.compute_value(data, node, Lanes::First)?, 0)
                }
                Form::Vector => LaneValue::Vector(self.compute_value(data, node, Lanes::All)?.into_vector_value()),
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
        matches!(self.held_value(value), Ok(LaneValue::Affine(_, 0)))
    }

    fn are_affine(&self, x: Value, y: Value) -> bool {
        matches!((self.held_value(x), self.held_value(y)), (Ok(LaneValue::Affine(..)), Ok(LaneValue::Affine(..))))
    }

    fn all_uniform(&self, data: &InstData) -> bool {
        let mut uniform = true;
        data.for_each_arg(|arg| uniform &= self.is_uniform(arg));
        uniform
    }

    /// What computes a value from values alone.
    fn compute_value(&self, data: &InstData, node: &InstNode, lanes: Lanes<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let emit = self.around.emitter;
        let speculates = self.speculates();
        // A promise about the program says nothing about lanes that the program does not send here.
        let int_flags = |flags| if speculates { IntFlags::default() } else { flags };
        // nnan and ninf make poison of the others.
        let fast = |fmf: FastMath| if speculates { fmf.with_all_values() } else { fmf };
        let get = |arg| match lanes {
            Lanes::First => self.lane_zero(arg),
            Lanes::One(lane) => self.read_lane(arg, lane),
            Lanes::Run(run) => self.in_run(arg, run),
            Lanes::All => Ok(self.as_vector(arg)?.into()),
        };
        let estimates = emit.target.estimates && matches!(lanes, Lanes::All);
        let frozen = |value| if speculates { self.freeze_value(value) } else { Ok(value) };
        let body_const = |value| self.body.const_bits(value);
        let ty = node.results.first().map_or(Type::BOOL, |&result| self.type_of(result));
        match data {
            InstData::Unary { opcode: UnaryOp::Rsqrt, argument: arg, .. } if estimates => {
                Ok(emit.reciprocal_root(self.as_vector(*arg)?)?.into())
            }
            InstData::Unary { opcode: UnaryOp::Sqrt, fast_math: fmf, argument: arg }
                if estimates && ty == Type::F32 && fmf.allows_reciprocals() =>
            {
                Ok(emit.rough_root(self.as_vector(*arg)?)?.into())
            }
            InstData::Binary { opcode: BinaryOp::Fdiv, fast_math: fmf, arguments: [x, y], .. }
                if estimates && ty == Type::F32 && fmf.allows_reciprocals() =>
            {
                Ok(emit.rough_quotient(self.as_vector(*x)?, self.as_vector(*y)?)?.into())
            }
            InstData::Unary { opcode: op, fast_math: fmf, argument: arg } => {
                let value = emit.unary(*op, fast(*fmf), self.type_of(*arg), ty, get(*arg)?)?;
                if matches!(op, UnaryOp::FpToSi | UnaryOp::FpToUi) { frozen(value) } else { Ok(value) }
            }
            InstData::Binary { opcode: op, flags, fast_math: fmf, arguments: [x, y] } => {
                use BinaryOp::{And, Ashr, Lshr, Or, Sdiv, Shl, Srem, Udiv, Urem, Xor};
                let mut operands = [get(*x)?, get(*y)?];
                let divides = matches!(op, Udiv | Sdiv | Urem | Srem);
                // A mask must not become poison where a lane is not active, nor may such lanes divide by it.
                if self.masked && (divides || ty == Type::BOOL && matches!(op, And | Or | Xor)) {
                    operands = [self.freeze_value(operands[0])?, self.freeze_value(operands[1])?];
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
            InstData::Ternary { opcode: op, fast_math: fmf, arguments: [x, y, z] } => {
                let choice = *op == TernaryOp::Select && self.is_uniform(*x);
                let x = if choice { self.lane_zero(*x)? } else { get(*x)? };
                emit.ternary(*op, fast(*fmf), ty, [x, get(*y)?, get(*z)?])
            }
            InstData::Icmp { comparison: cc, arguments: [x, y] } => {
                if matches!(lanes, Lanes::All)
                    && let Some(found) = self.compare_with_bound(*cc, [*x, *y])?
                {
                    return Ok(found.into());
                }
                emit.icmp(*cc, [get(*x)?, get(*y)?])
            }
            InstData::Fcmp { comparison: cc, fast_math: fmf, arguments: [x, y] } => {
                emit.fcmp(*cc, fast(*fmf), [get(*x)?, get(*y)?])
            }
            InstData::PtrAdd { base, offset, inbounds } => {
                let inbounds = *inbounds && !speculates;
                if !matches!(lanes, Lanes::All) {
                    let (base, offset) = (get(*base)?, get(*offset)?);
                    return Ok(emit
                        .offset_address(base.into_pointer_value(), offset.into_int_value(), inbounds)?
                        .into());
                }
                // A common base stays a scalar: the address mode of a gather.
                let part =
                    |arg| if self.is_uniform(arg) { self.lane_zero(arg) } else { Ok(self.as_vector(arg)?.into()) };
                emit.offset_addresses(part(*base)?, part(*offset)?, inbounds)
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
        let zero = self.around.emitter.const64(0);
        let operands = |lane| -> Emitted<[BasicValueEnum<'ctx>; 3]> {
            Ok([self.read_lane(args[0], lane)?, self.read_lane(args[1], lane)?, self.read_lane(args[2], lane)?])
        };
        let one = |lane| {
            work(operands(lane)?)?;
            Ok(Vec::new())
        };
        if args.iter().all(|&arg| self.is_uniform(arg)) {
            self.note_access(kind, "uniform", "");
            self.emit_guarded(self.block_mask()?, || one(zero))?;
        } else {
            self.note_lanes(kind, "a block of memory for each");
            self.each_lane(self.block_mask()?, &[], one)?;
        }
        Ok(())
    }

    fn typed_values(&self, args: &[Value], lane: IntValue<'ctx>) -> Emitted<Vec<(Type, BasicValueEnum<'ctx>)>> {
        args.iter().map(|&arg| Ok((self.type_of(arg), self.read_lane(arg, lane)?))).collect()
    }

    /// An instruction's results by what each active lane does.
    pub(super) fn emit_by_lane(
        &self,
        node: &InstNode,
        work: impl Fn(IntValue<'ctx>) -> Emitted<Vec<BasicValueEnum<'ctx>>>,
    ) -> Emitted<Vec<LaneValue<'ctx>>> {
        let types: Vec<Type> = node.results.iter().map(|&result| self.type_of(result)).collect();
        let vectors = self.each_lane(self.block_mask()?, &types, work)?;
        Ok(vectors.into_iter().map(LaneValue::Vector).collect())
    }

    /// Lane 0's value of an affine value of which the active lanes' are known.
    fn base_in(&self, vector: VectorValue<'ctx>, stride: i64) -> Emitted<BasicValueEnum<'ctx>> {
        let emit = self.around.emitter;
        // Without a mask of its own, a block is run by lane 0.
        if self.plan.masks[self.block].is_none() {
            return emit.builder.build_extract_element(vector, emit.const64(0), "");
        }
        let mask = self.block_mask()?;
        let base = self.emit_guarded(mask, || {
            let lane = self.last_lane(mask)?;
            let value = emit.builder.build_extract_element(vector, lane, "")?;
            Ok(vec![self.base_of(value, lane, stride)?])
        })?;
        base.into_iter().next().ok_or(BuilderError::UnsetPosition)
    }

    pub(super) fn space_of(&self, ptr: Value) -> Space {
        match self.type_of(ptr) {
            Type::Ptr(space) => space,
            _ => Space::Generic,
        }
    }
}
