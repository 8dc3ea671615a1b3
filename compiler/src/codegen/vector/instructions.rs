//! Instructions of a gang, other than loads and stores.

use super::lane_value::LaneValue;
use super::{EmitContext, VectorEmitter};
use crate::codegen::emit::Emitted;
use crate::codegen::error::CodegenError;
use crate::codegen::groups;
use cranelift_entity::EntityRef;
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
pub(super) enum Lanes<'ctx> {
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
    pub(super) fn emit_inst(&mut self, instruction: Inst) -> Emitted<()> {
        let inst_node = &self.body.insts[instruction];
        self.location = inst_node.location;
        self.around.emitter.scopes.come_from(self.origins.of_access(&inst_node.data));
        let values = self.emit_results(instruction)?;
        for (&result, value) in self.body.insts[instruction].results.iter().zip(values) {
            let lane_value = self.in_planned_form(result, value)?;
            debug_assert!(
                self.uses[result] == 0 || lane_value.form() == self.plan.accesses.forms.form_of(self.body, result),
                "{result} is not held as the plan says"
            );
            self.values[result] = Some(lane_value);
        }
        Ok(())
    }

    /// What is computed of a value, as it is to be held.
    pub(super) fn in_planned_form(&self, operand: Value, lane_value: LaneValue<'ctx>) -> Emitted<LaneValue<'ctx>> {
        Ok(match (self.form_of(operand), lane_value) {
            // Where the analysis knows more than can be seen here, an active lane's word is taken.
            (Form::Affine(stride), LaneValue::Vector(vector)) => {
                LaneValue::Affine(self.base_in(vector, stride)?, stride)
            }
            (Form::Vector, LaneValue::Affine(base_value, stride)) if self.is_naive() => {
                LaneValue::Vector(self.around.emitter.materialize_affine(base_value, stride, self.around.width())?)
            }
            (Form::Vector, lane_value @ LaneValue::Runs(..)) if self.is_naive() => {
                LaneValue::Vector(self.materialize(&lane_value)?)
            }
            (_, lane_value) => lane_value,
        })
    }

    fn is_naive(&self) -> bool {
        self.around.widening.configuration == Configuration::Naive
    }

    /// Emits an instruction.
    fn emit_results(&self, instruction: Inst) -> Emitted<Vec<LaneValue<'ctx>>> {
        let EmitContext { emitter, storage, frame, group, .. } = self.around;
        let function = self.body;
        let inst_node = &function.insts[instruction];
        let result = inst_node.results.first().map_or(Type::BOOL, |&result| self.type_of(result));
        let uniform = |value: BasicValueEnum<'ctx>| LaneValue::Affine(value, 0);
        let without_results = |emitted: Emitted<()>| emitted.map(|()| Vec::new());
        let lane_value = match &inst_node.data {
            InstData::Load { .. } => return self.emit_load(instruction),
            InstData::Store { arguments, .. } => return without_results(self.emit_store(instruction, arguments)),
            InstData::LiveLoad { live_slot } => self.live_load(*live_slot, result)?,
            InstData::LiveStore { live_slot, argument } => {
                return without_results(self.live_store(*live_slot, *argument));
            }
            InstData::MemCopy { destination, source, length, overlap, volatile } => {
                let spaces = [self.space_of(*destination), self.space_of(*source)];
                let copy_block = |[destination, source, length]: [_; 3]| {
                    emitter.copy_bytes(destination, source, length, spaces, *overlap, *volatile)
                };
                return without_results(self.block_operation("copy", [*destination, *source, *length], copy_block));
            }
            InstData::MemSet { destination, byte, length, volatile } => {
                let address_space = self.space_of(*destination);
                let set_block = |[destination, byte, length]: [_; 3]| {
                    emitter.set_bytes(destination, byte, length, address_space, *volatile)
                };
                return without_results(self.block_operation("fill", [*destination, *byte, *length], set_block));
            }
            InstData::AtomicRmw { opcode, order, pointer, argument, .. } => {
                return self.atomic_rmw(inst_node, *opcode, *order, *pointer, *argument);
            }
            InstData::AtomicCas { success, failure, pointer, expected, new, .. } => {
                let address_space = self.space_of(*pointer);
                let orderings = [*success, *failure];
                self.note_lanes("atomic", "compare and exchange");
                let change_memory = |lane| {
                    let target = self.lane_address(*pointer, lane)?;
                    let operands = [self.read_lane(*expected, lane)?, self.read_lane(*new, lane)?];
                    Ok(emitter.atomic_cas(orderings, result, target, address_space, operands)?.to_vec())
                };
                return self.emit_by_lane(inst_node, change_memory);
            }
            InstData::Printf { format, arguments } => {
                self.note_lanes("printf", "output in order");
                let print_lane = |lane| {
                    Ok(vec![emitter.call_printf(frame, format.as_u32(), &self.typed_values(arguments, lane)?)?.into()])
                };
                return self.emit_by_lane(inst_node, print_lane);
            }
            InstData::CallHost { name, arguments } => {
                let call_lane =
                    |lane| Ok(vec![emitter.call_host(name, &self.typed_values(arguments, lane)?, result)?]);
                if arguments.iter().all(|&argument| self.is_uniform(argument)) {
                    self.note_class("call", "uniform", name);
                    let values = call_lane(emitter.const64(0))?;
                    return Ok(values.into_iter().map(uniform).collect());
                }
                self.note_lanes("call", &format!("{name} has no vector form"));
                return self.emit_by_lane(inst_node, call_lane);
            }
            InstData::Call { callee, arguments } => return self.call_function(inst_node, *callee, arguments),
            InstData::SetResults { arguments } => return without_results(self.set_results(arguments)),
            InstData::Fence { order } => return without_results(emitter.fence(*order)),
            InstData::Query { query, dimension } if self.is_in_tile(*query, *dimension) => {
                self.place_in_tile(*query, *dimension)?
            }
            InstData::Query { query, dimension } => {
                let first_index = groups::answer_query(emitter, frame, group, &self.gang.first, *query, *dimension);
                LaneValue::Affine(first_index.into(), self.is_lanes(*query, *dimension).into())
            }
            InstData::SlotAddr { slot } => {
                let first_address = self.slots[*slot].ok_or(CodegenError::Missing("storage for a private variable"))?;
                LaneValue::Affine(first_address.into(), storage.strides[*slot] as i64)
            }
            InstData::LocalAddr { local } => uniform(frame.locals[local.index()].into()),
            InstData::GlobalAddr { global } => {
                let address = frame.globals[*global];
                uniform(address.ok_or(CodegenError::Missing("storage for a variable of the program"))?.into())
            }
            InstData::Clock => uniform(emitter.read_clock()?.into()),
            InstData::Combined => {
                uniform(group.combined.ok_or(CodegenError::Missing("value that the group has combined"))?)
            }
            InstData::Any { condition } => uniform(self.any_active(*condition)?.into()),
            InstData::Ballot { condition } => uniform(self.lanes_as_bits(self.lanes_where(*condition)?)?.into()),
            InstData::LaneOf { lane, .. } | InstData::Put { lane, .. } if !self.is_uniform(*lane) => {
                return Err(CodegenError::Unexpected(format!("{instruction} is of several lanes")));
            }
            InstData::LaneOf { argument, lane } => {
                uniform(self.read_lane(*argument, self.lane_zero(*lane)?.into_int_value())?)
            }
            InstData::Across { collective, opcode, cluster, argument } => {
                self.combine_active(*collective, *opcode, *cluster, *argument)?
            }
            InstData::Shuffle { argument, lane } => self.lanes_at(*argument, *lane)?,
            InstData::CountIterations { loop_number, argument } => {
                let mut lane_iterations = self.as_vector(*argument)?;
                if let Some(mask) = self.block_mask()? {
                    let none = lane_iterations.get_type().const_zero();
                    lane_iterations =
                        emitter.builder.build_select(mask.lanes, lane_iterations, none, "")?.into_vector_value();
                }
                return without_results(emitter.count_iterations(frame, *loop_number, lane_iterations));
            }
            InstData::Yield => return without_results(emitter.let_others_go_on()),
            InstData::GangBarrier => return without_results(emitter.fence(Ordering::AcqRel)),
            InstData::Put { into, lane, value } => {
                let number = self.lane_zero(*lane)?.into_int_value();
                let value = self.read_lane(*value, number)?;
                LaneValue::Vector(emitter.builder.build_insert_element(self.as_vector(*into)?, value, number, "")?)
            }
            // A kernel that still has barriers is not ready for code generation.
            InstData::Barrier | InstData::Collective { .. } => {
                return Err(CodegenError::Unexpected(format!("{instruction} should have ended a region")));
            }
            InstData::Unary { opcode: UnaryOp::SpaceOf, argument, .. } => {
                if !self.is_uniform(*argument) {
                    let space_of_lane = |lane| {
                        let address = self.read_lane(*argument, lane)?.into_pointer_value();
                        Ok(vec![emitter.space_of(frame, address)?.into()])
                    };
                    return self.emit_by_lane(inst_node, space_of_lane);
                }
                uniform(emitter.space_of(frame, self.lane_zero(*argument)?.into_pointer_value())?.into())
            }
            // The analysis does not know the addresses of slots; constant distances stay.
            InstData::PtrAdd { base, offset, inbounds } if self.are_affine(*base, *offset) => {
                let inbounds = *inbounds && !self.speculates();
                let (LaneValue::Affine(base_value, index_stride), LaneValue::Affine(offset, offset_stride)) =
                    (self.held_value(*base)?, self.held_value(*offset)?)
                else {
                    return Err(CodegenError::Unexpected(format!("{instruction} has no affine operands")));
                };
                let address_sum =
                    emitter.offset_address(base_value.into_pointer_value(), offset.into_int_value(), inbounds)?;
                LaneValue::Affine(address_sum.into(), index_stride.wrapping_add(offset_stride))
            }
            inst_data => match self.form_of(inst_node.results[0]) {
                Form::Affine(stride) if self.plan.of_endless_sums.contains(inst_node.results[0]) => {
                    LaneValue::Affine(self.compute_of_endless_sums(inst_node, Lanes::First)?, stride)
                }
                // Lane 0 may be where the program does not come, and off the line of those where it does.
                Form::Affine(stride) if self.plan.by_active.contains(inst_node.results[0]) => {
                    let lane = self.active_lane()?;
                    let value = self.compute_value(inst_data, inst_node, Lanes::One(lane))?;
                    LaneValue::Affine(self.base_of(value, lane, stride)?, stride)
                }
                Form::Affine(stride) => {
                    LaneValue::Affine(self.compute_value(inst_data, inst_node, Lanes::First)?, stride)
                }
                Form::Runs(stride) if self.plan.of_endless_sums.contains(inst_node.results[0]) => {
                    let run_value = |run_index| self.compute_of_endless_sums(inst_node, Lanes::Run(run_index));
                    self.value_by_row((0..self.around.row_count()).map(run_value).collect::<Emitted<_>>()?, stride)?
                }
                Form::Runs(stride) if self.plan.accesses.forms.has_alike_rows(inst_node.results[0]) => {
                    self.value_by_row(vec![self.compute_value(inst_data, inst_node, Lanes::Run(0))?], stride)?
                }
                Form::Runs(stride) => {
                    let run_value = |run_index| self.compute_value(inst_data, inst_node, Lanes::Run(run_index));
                    self.value_by_row((0..self.around.row_count()).map(run_value).collect::<Emitted<_>>()?, stride)?
                }
                Form::Vector if self.all_uniform(inst_data) => {
                    LaneValue::Affine(self.compute_value(inst_data, inst_node, Lanes::First)?, 0)
                }
                Form::Vector => {
                    LaneValue::Vector(self.compute_value(inst_data, inst_node, Lanes::All)?.into_vector_value())
                }
            },
        };
        Ok(vec![lane_value])
    }

    /// Whether a query tells each lane one more than the one before.
    pub(super) fn is_lanes(&self, query: Query, dimension: u8) -> bool {
        let Widening { layout, run, .. } = self.around.widening;
        tells_lanes(query, dimension, *layout, run.is_some())
    }

    pub(super) fn is_uniform(&self, operand: Value) -> bool {
        matches!(self.held_value(operand), Ok(LaneValue::Affine(_, 0)))
    }

    fn are_affine(&self, left: Value, right: Value) -> bool {
        matches!(
            (self.held_value(left), self.held_value(right)),
            (Ok(LaneValue::Affine(..)), Ok(LaneValue::Affine(..)))
        )
    }

    fn all_uniform(&self, inst_data: &InstData) -> bool {
        let mut uniform = true;
        inst_data.for_each_arg(|argument| uniform &= self.is_uniform(argument));
        uniform
    }

    /// An operand of what is computed of these lanes.
    pub(super) fn operand_of(&self, argument: Value, lanes: Lanes<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        match lanes {
            Lanes::First => self.lane_zero(argument),
            Lanes::One(lane) => self.read_lane(argument, lane),
            Lanes::Run(run) => self.in_run(argument, run),
            Lanes::All => Ok(self.as_vector(argument)?.into()),
        }
    }

    fn scalar_or_vector(&self, argument: Value) -> Emitted<BasicValueEnum<'ctx>> {
        if self.is_uniform(argument) { self.lane_zero(argument) } else { Ok(self.as_vector(argument)?.into()) }
    }

    /// What computes a value from values alone.
    fn compute_value(
        &self,
        inst_data: &InstData,
        inst_node: &InstNode,
        lanes: Lanes<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let emitter = self.around.emitter;
        let speculates = self.speculates();
        // A promise about the program says nothing about lanes that the program does not send here, nor, of lane 0's number,
        // anything about lanes that use theirs where lane 0 does not.
        let of_one_lane = !matches!(lanes, Lanes::All);
        let may_wrap = |result: &Value| of_one_lane && self.plan.sums_that_wrap.contains(*result);
        let drops_promises = speculates || inst_node.results.first().is_some_and(may_wrap);
        let int_flags = |wrap_flags| if drops_promises { IntFlags::default() } else { wrap_flags };
        // nnan and ninf make poison of the others.
        let lane_fast_math = |fast_math: FastMath| if speculates { fast_math.with_all_values() } else { fast_math };
        let operand = |argument| self.operand_of(argument, lanes);
        let estimates = emitter.target.estimates && matches!(lanes, Lanes::All);
        let freeze_rest = |value| if speculates { self.freeze_value(value) } else { Ok(value) };
        let body_const = |value| self.body.const_bits(value);
        let scalar_type = inst_node.results.first().map_or(Type::BOOL, |&result| self.type_of(result));
        match inst_data {
            InstData::Unary { opcode: UnaryOp::Rsqrt, argument, .. } if estimates => {
                Ok(emitter.reciprocal_root(self.as_vector(*argument)?)?.into())
            }
            InstData::Unary { opcode: UnaryOp::Sqrt, fast_math, argument }
                if estimates && scalar_type == Type::F32 && fast_math.allows_reciprocals() =>
            {
                Ok(emitter.rough_root(self.as_vector(*argument)?)?.into())
            }
            InstData::Binary { opcode: BinaryOp::Fdiv, fast_math, arguments: [left, right], .. }
                if estimates && scalar_type == Type::F32 && fast_math.allows_reciprocals() =>
            {
                Ok(emitter.rough_quotient(self.as_vector(*left)?, self.as_vector(*right)?)?.into())
            }
            InstData::Unary { opcode, fast_math, argument } => {
                let value = emitter.unary(
                    *opcode,
                    lane_fast_math(*fast_math),
                    self.type_of(*argument),
                    scalar_type,
                    operand(*argument)?,
                )?;
                if matches!(opcode, UnaryOp::FpToSi | UnaryOp::FpToUi) { freeze_rest(value) } else { Ok(value) }
            }
            InstData::Binary { opcode, flags, fast_math, arguments: [left, right] } => {
                use BinaryOp::{And, Ashr, Lshr, Or, Sdiv, Shl, Srem, Udiv, Urem, Xor};
                let mut operands = [operand(*left)?, operand(*right)?];
                let divides = matches!(opcode, Udiv | Sdiv | Urem | Srem);
                let combines_masks = scalar_type == Type::BOOL && matches!(opcode, And | Or | Xor);
                // A mask must not become poison where a lane is not active, nor may such lanes divide by it.
                if self.masked && (divides || combines_masks) {
                    operands = [self.freeze_value(operands[0])?, self.freeze_value(operands[1])?];
                }
                if let [BasicValueEnum::VectorValue(left), BasicValueEnum::VectorValue(divisor)] = operands
                    && self.divides_as_floats(*opcode, scalar_type, *right)
                {
                    return self.divide_as_floats(*opcode, scalar_type, [left, divisor]);
                }
                let value = emitter.binary(*opcode, int_flags(*flags), lane_fast_math(*fast_math), operands)?;
                if self.masked && combines_masks {
                    self.defined.borrow_mut().note_defined(value);
                }
                let is_within =
                    body_const(*right).is_some_and(|shift_amount| shift_amount < u128::from(scalar_type.bits()));
                if matches!(opcode, Shl | Lshr | Ashr) && !is_within { freeze_rest(value) } else { Ok(value) }
            }
            InstData::Ternary { opcode, fast_math, arguments: [left, right, third] } => {
                let is_uniform_choice = *opcode == TernaryOp::Select && self.is_uniform(*left);
                let left = if is_uniform_choice { self.lane_zero(*left)? } else { operand(*left)? };
                emitter.ternary(
                    *opcode,
                    lane_fast_math(*fast_math),
                    scalar_type,
                    [left, operand(*right)?, operand(*third)?],
                )
            }
            InstData::Icmp { comparison, arguments: [left, right] } => {
                if matches!(lanes, Lanes::All)
                    && let Some(compared) = self.compare_with_bound(*comparison, [*left, *right])?
                {
                    return Ok(compared.into());
                }
                emitter.icmp(*comparison, [operand(*left)?, operand(*right)?])
            }
            InstData::Fcmp { comparison, fast_math, arguments: [left, right] } => {
                emitter.fcmp(*comparison, lane_fast_math(*fast_math), [operand(*left)?, operand(*right)?])
            }
            InstData::PtrAdd { base, offset, inbounds } => {
                let inbounds = *inbounds && !speculates;
                if !matches!(lanes, Lanes::All) {
                    let (base_value, offset) = (operand(*base)?, operand(*offset)?);
                    return Ok(emitter
                        .offset_address(base_value.into_pointer_value(), offset.into_int_value(), inbounds)?
                        .into());
                }
                // A common base stays a scalar: the address mode of a gather.
                emitter.offset_addresses(self.scalar_or_vector(*base)?, self.scalar_or_vector(*offset)?, inbounds)
            }
            // Everything else has been dealt with.
            _ => Err(CodegenError::Unexpected(format!("{inst_data:?} is no operation of vectors"))),
        }
    }

    /// An operation on blocks of memory, once if all lanes do the same.
    fn block_operation(
        &self,
        note_kind: &'static str,
        arguments: [Value; 3],
        emit_block: impl Fn([BasicValueEnum<'ctx>; 3]) -> Emitted<()>,
    ) -> Emitted<()> {
        let zero = self.around.emitter.const64(0);
        let emit_one = |lane| {
            let [first, second, third] = arguments.map(|argument| self.read_lane(argument, lane));
            emit_block([first?, second?, third?])?;
            Ok(Vec::new())
        };
        if arguments.iter().all(|&argument| self.is_uniform(argument)) {
            self.note_class(note_kind, "uniform", "");
            self.emit_guarded(self.block_mask()?, || emit_one(zero))?;
        } else {
            self.note_lanes(note_kind, "a block of memory for each");
            self.each_lane(self.block_mask()?, &[], emit_one)?;
        }
        Ok(())
    }

    pub(super) fn typed_values(
        &self,
        arguments: &[Value],
        lane: IntValue<'ctx>,
    ) -> Emitted<Vec<(Type, BasicValueEnum<'ctx>)>> {
        arguments.iter().map(|&argument| Ok((self.type_of(argument), self.read_lane(argument, lane)?))).collect()
    }

    /// An instruction's results by what each active lane does.
    pub(super) fn emit_by_lane(
        &self,
        inst_node: &InstNode,
        emit_lane: impl Fn(IntValue<'ctx>) -> Emitted<Vec<BasicValueEnum<'ctx>>>,
    ) -> Emitted<Vec<LaneValue<'ctx>>> {
        let types: Vec<Type> = inst_node.results.iter().map(|&result| self.type_of(result)).collect();
        let vectors = self.each_lane(self.block_mask()?, &types, emit_lane)?;
        Ok(vectors.into_iter().map(LaneValue::Vector).collect())
    }

    /// Lane 0's value of an affine value of which the active lanes' are known.
    pub(super) fn base_in(&self, vector: VectorValue<'ctx>, stride: i64) -> Emitted<BasicValueEnum<'ctx>> {
        let emitter = self.around.emitter;
        // Without a mask of its own, a block is run by lane 0.
        if self.plan.masks[self.block].is_none() {
            return Ok(emitter.builder.build_extract_element(vector, emitter.const64(0), "")?);
        }
        let mask = self.block_mask()?;
        let base_values = self.emit_guarded(mask, || {
            let lane = self.last_lane(mask)?;
            let value = emitter.builder.build_extract_element(vector, lane, "")?;
            Ok(vec![self.base_of(value, lane, stride)?])
        })?;
        base_values.into_iter().next().ok_or(CodegenError::Missing("address of the first lane"))
    }

    pub(super) fn space_of(&self, pointer: Value) -> Space {
        match self.type_of(pointer) {
            Type::Ptr(address_space) => address_space,
            _ => Space::Generic,
        }
    }
}
