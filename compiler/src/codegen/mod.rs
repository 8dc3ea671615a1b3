//! From IR to LLVM IR of the host.
//!
//! Requires: a verified kernel without barrier instructions, cut into regions.
//! Ensures: a module of its own with one function, a [`KernelEntry`], that runs a chunk of
//! work-groups of launches of which the facts hold; the meaning of every operation is that of the IR, where OpenCL leaves the result open
//! (division by zero) it still does not trap.
//! Phases: lay out scratch memory ([`storage`]); read the call's values ([`frame`]); open the loop over
//! groups ([`groups`]); for each region what it begins with ([`work_group_collectives`]), then the loops over work-items with the
//! region's code ([`region`]) inside and a jump to the regions that may follow; close.
//! Source: Karrenberg & Hack 2012, sections 2.2 (loops in generated code, queries as values) and 2.3
//! (the loop over continuations; all work-items agree, so the last one's answer is taken).
//!
//! The regions' code stands inline in one function, so that what does not depend on the work-item moves
//! out of its loop; a region with one successor jumps to it. No function or loop is marked
//! `mustprogress`: a kernel that loops for ever does so.

mod alias;
mod arith;
mod atomics;
mod called_functions;
mod calls;
mod coroutines;
mod counters;
mod debug_lines;
mod emit;
pub mod error;
mod estimates;
mod exponents;
mod frame;
mod function_forms;
mod groups;
mod kernel_code;
mod memory;
mod region;
mod region_functions;
mod vector;
mod work_group_collectives;
mod work_item;

use crate::codegen::error::CodegenError;
use called_functions::CalledFunctions;
use cranelift_entity::{EntityRef, SecondaryMap};
use debug_lines::DebugLines;
use emit::{Emitted, Emitter};
use frame::{Call, Frame};
use groups::GroupLoop;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::module::Module as LlvmModule;
use inkwell::values::{FunctionValue, IntValue};
use kernel_code::KernelCode;
use lockstep_ir::analysis::spin_loops::{may_wait, region_may_wait};
use lockstep_ir::ir::{Function, Kernel, Module, Region};
use lockstep_ir::plan::Widening;
use lockstep_ir::plan::function_forms::FunctionForms;
use lockstep_ir::plan::storage::{SCRATCH_ALIGN, Storage};
use lockstep_ir::report::Notes;
use lockstep_protocol::configuration::Versions;
use lockstep_protocol::kernel_abi::{LaunchFrame, ScratchNeeds};
use lockstep_protocol::layout::Layout;
use vector::EmitContext;
use work_item::Group;

pub use emit::ANY_LANE;
pub(crate) use emit::vector_of;
pub use inkwell::context::Context;
pub use kernel_code::CodeOptions;

/// The name of the kernel's function in its module.
pub const ENTRY_NAME: &str = "lockstep_kernel";

/// A kernel as LLVM IR.
pub struct Generated<'ctx> {
    /// The module; its target is not set yet.
    pub module: LlvmModule<'ctx>,
    /// The kernel's function in it.
    pub entry: FunctionValue<'ctx>,
    /// The scratch memory that the code needs.
    pub needs: ScratchNeeds,
}

/// A kernel, and how its work-items run.
#[derive(Clone, Copy)]
pub struct PlannedKernel<'a> {
    /// The kernel, as its passes left it.
    pub kernel: &'a Kernel,
    /// How it runs in gangs, if it does.
    pub widening: Option<&'a Widening>,
    /// The forms of the functions that it calls.
    pub forms: &'a FunctionForms,
}

/// Regions have blocks from the beginning.
const NO_REGION: CodegenError = CodegenError::Missing("block at which a region starts");

/// Generates the code of one kernel of `module`, which may run in gangs. What
/// becomes of its accesses is noted.
pub fn generate_kernel<'ctx>(
    context: &'ctx Context,
    module: &Module,
    planned: PlannedKernel<'_>,
    options: &CodeOptions<'_>,
    notes: &Notes,
) -> Emitted<Generated<'ctx>> {
    let PlannedKernel { kernel, widening, forms } = planned;
    let &CodeOptions { launch, region_functions, .. } = options;
    let llvm_module = context.create_module(&kernel.name);
    let layout = widening.map_or(Layout::X, |widening| widening.layout);
    let mut storage = widening.map_or_else(|| Storage::lay_out(kernel, 1, layout), |widening| widening.storage.clone());
    let called_functions = CalledFunctions::lay_out(module, forms, &mut storage);
    let lines = options.debug.then(|| DebugLines::describe_module(context, &llvm_module, kernel));
    let kernel_code =
        KernelCode { context, llvm_module: &llvm_module, kernel, widening, options, lines: lines.as_ref() };
    let entry = declare_entry(context, &llvm_module);
    let emitter = kernel_code.begin_function(entry, None);
    called_functions.emit_all(&emitter, module, &kernel_code, notes)?;
    let kernel_call = Call {
        frame: frame::nth_parameter(&emitter, 0)?.into_pointer_value(),
        scratch: frame::nth_parameter(&emitter, 1)?.into_pointer_value(),
        once: SecondaryMap::new(),
    };
    let entered_for =
        |region: Option<Region>| frame::Entered { module, kernel, region, storage: &storage, launch, layout };
    let mut frame = frame::enter_kernel(&emitter, &entered_for(None), &kernel_call)?;
    let next_pointer = widening.map(|_| emitter.builder.build_alloca(context.i32_type(), "next")).transpose()?;
    let separate = match region_functions {
        Versions::Never => false,
        Versions::WherePays => region_functions::has_many_regions(kernel),
        Versions::Always => true,
    };
    let region_record = match separate || may_wait(kernel) {
        true => Some(region_functions::open_record(&emitter, kernel, &frame, &kernel_call)?),
        false => None,
    };
    counters::fill_copies(&emitter, &frame, kernel)?;
    let groups = groups::open_groups(
        &emitter,
        &frame,
        frame::nth_parameter(&emitter, 2)?.into_int_value(),
        frame::nth_parameter(&emitter, 3)?.into_int_value(),
    )?;
    if let Some(region_record) = region_record {
        region_functions::pass_group_id(&emitter, region_record, &groups.group)?;
    }
    let mut region_starts: SecondaryMap<Region, Option<BasicBlock>> = SecondaryMap::new();
    for region in kernel.regions.keys() {
        region_starts[region] = Some(emitter.append_block("region"));
    }
    let first_block = region_starts[Region::new(0)].ok_or(NO_REGION)?;
    emitter.builder.build_unconditional_branch(first_block)?;
    for region in kernel.regions.keys() {
        emitter.position_at(region_starts[region].ok_or(NO_REGION)?);
        let region_function = &kernel.regions[region];
        let combined = work_group_collectives::emit_combine(&emitter, &frame, kernel, &groups.group, region)?;
        let group = &Group { combined, ..groups.group };
        frame.enter_region(&emitter, kernel, region_function)?;
        let (next_regions, next_number) = match (widening, next_pointer) {
            _ if let Some(region_record) = region_record.filter(|_| separate || region_may_wait(region_function)) => {
                let function = region_functions::declare_function(&emitter, region);
                region_functions::pass_kept_values(&emitter, region_record, kernel, &frame, combined)?;
                match region_may_wait(region_function) {
                    true => coroutines::take_turns(&emitter, function, region_record)?,
                    false => region_functions::call_region(&emitter, function, region_record)?,
                }
                let next_number = region_functions::next_region(&emitter, region_record)?;
                let part = region_functions::name_function(region);
                let emitter = &kernel_code.begin_function(function, Some(&part));
                let kernel_call = region_functions::called_with(emitter, kernel)?;
                let shared = region_functions::kept_once(emitter, kernel, &frame.shared)?;
                let frame = frame::enter_kernel(emitter, &entered_for(Some(region)), &kernel_call)?;
                let frame = Frame { shared, ..frame };
                let combined = combined.and(kernel.combines[region]).map(|combine| kernel.live[combine.live_slot].ty);
                let (storage, frame) = (&storage, &frame);
                let group = &region_functions::running_group(emitter, frame, combined)?;
                let around = widening.map(|widening| EmitContext {
                    emitter,
                    kernel,
                    storage,
                    frame,
                    group,
                    widening,
                    forms,
                    notes,
                });
                let gang_plan = around.map(|around| (around, &around.widening.regions[region]));
                let mut next_regions = match gang_plan.filter(|(_, region_plan)| !region_plan.alone) {
                    Some((around, region_plan)) if region_may_wait(region_function) => {
                        vector::take_gangs(around, region_function, region_plan)?
                    }
                    None if region_may_wait(region_function) => {
                        coroutines::run_items(emitter, kernel, storage, frame, group, region_function)?
                    }
                    Some((around, region_plan)) => {
                        let address = region_functions::next_place(emitter)?;
                        let next_regions =
                            vector::run_gangs(around, region_function, region_plan, address, |next_region| {
                                region_functions::region_number(emitter, next_region)
                            })?;
                        emitter.builder.build_return(None)?;
                        next_regions
                    }
                    None => {
                        let (next_regions, next_number) =
                            run_items(emitter, kernel, storage, frame, group, region_function)?;
                        region_functions::close_function(emitter, &next_regions, next_number)?;
                        next_regions
                    }
                };
                next_regions.sort();
                next_regions.dedup();
                (next_regions, Some(next_number))
            }
            (Some(widening), Some(next_pointer)) if !widening.regions[region].alone => {
                let (emitter, storage, frame) = (&emitter, &storage, &frame);
                let around = EmitContext { emitter, kernel, storage, frame, group, widening, forms, notes };
                let region_plan = &widening.regions[region];
                let next_regions =
                    vector::run_gangs(around, region_function, region_plan, next_pointer, |next_region| {
                        region_functions::region_number(emitter, next_region)
                    })?;
                let next_number = emitter.builder.build_load(context.i32_type(), next_pointer, "")?.into_int_value();
                (next_regions, Some(next_number))
            }
            _ => run_items(&emitter, kernel, &storage, &frame, group, region_function)?,
        };
        go_on(&emitter, &groups, &region_starts, &next_regions, next_number)?;
    }
    groups.close_loop(&emitter, &frame)?;
    counters::merge_copies(&emitter, &frame, kernel)?;
    emitter.builder.build_return(None)?;
    drop(emitter);
    if let Some(lines) = lines {
        lines.finish_module();
    }
    Ok(Generated { module: llvm_module, entry, needs: storage.needs })
}

fn declare_entry<'ctx>(context: &'ctx Context, llvm_module: &LlvmModule<'ctx>) -> FunctionValue<'ctx> {
    let pointer_type = context.ptr_type(inkwell::AddressSpace::default());
    let i64_type = context.i64_type();
    let parameter_types = [pointer_type.into(), pointer_type.into(), i64_type.into(), i64_type.into()];
    let function = llvm_module.add_function(ENTRY_NAME, context.void_type().fn_type(&parameter_types, false), None);
    let add_attribute = |attribute_place, name, attribute_value| {
        let kind_id = Attribute::get_named_enum_kind_id(name);
        function.add_attribute(attribute_place, context.create_enum_attribute(kind_id, attribute_value));
    };
    let frame_parameter = AttributeLoc::Param(0);
    add_attribute(frame_parameter, "noalias", 0);
    add_attribute(frame_parameter, "readonly", 0);
    add_attribute(frame_parameter, "noundef", 0);
    add_attribute(frame_parameter, "align", 8);
    add_attribute(frame_parameter, "dereferenceable", size_of::<LaunchFrame>() as u64);
    // No buffer lies in the scratch memory, so what is not computed from its address is elsewhere.
    let scratch = AttributeLoc::Param(1);
    add_attribute(scratch, "noalias", 0);
    add_attribute(scratch, "noundef", 0);
    add_attribute(scratch, "align", SCRATCH_ALIGN);
    function
}

/// The regions where a group may go on, and the number of the one where it does if there are several.
type Nexts<'ctx> = (Vec<Option<Region>>, Option<IntValue<'ctx>>);

/// The loops over work-items around one region's code; emission goes on behind them.
fn run_items<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    kernel: &Kernel,
    storage: &Storage,
    frame: &Frame<'ctx>,
    work_group: &Group<'ctx>,
    function: &Function,
) -> Emitted<Nexts<'ctx>> {
    let item_loops = groups::open_items(emitter, work_group)?;
    let exits =
        region::ScalarEmitter::emit_region(emitter, kernel, storage, frame, work_group, &item_loops.item, function)?;
    for &(_, source) in &exits {
        emitter.position_at(source);
        emitter.builder.build_unconditional_branch(item_loops.latch)?;
    }
    emitter.position_at(item_loops.latch);
    let mut next_regions: Vec<Option<Region>> = exits.iter().map(|&(next_region, _)| next_region).collect();
    next_regions.sort();
    next_regions.dedup();
    let chosen = if next_regions.len() > 1 {
        let next_number = emitter.builder.build_phi(emitter.context.i32_type(), "next")?;
        for &(to, source) in &exits {
            next_number.add_incoming(&[(&region_functions::region_number(emitter, to), source)]);
        }
        Some(next_number.as_basic_value().into_int_value())
    } else {
        None
    };
    if !next_regions.is_empty() {
        item_loops.close_loops(emitter, work_group)?;
    }
    Ok((next_regions, chosen))
}

/// Where the group goes on behind a region.
fn go_on<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    groups: &GroupLoop<'ctx>,
    region_starts: &SecondaryMap<Region, Option<BasicBlock<'ctx>>>,
    next_regions: &[Option<Region>],
    next_number: Option<IntValue<'ctx>>,
) -> Emitted<()> {
    let builder = &emitter.builder;
    let region_block = |next_region: Option<Region>| match next_region {
        Some(region) => region_starts[region].ok_or(NO_REGION),
        None => Ok(groups.latch),
    };
    let Some((&usual_region, other_regions)) = next_regions.split_first() else {
        // No work-item ever leaves the region.
        builder.build_unreachable()?;
        return Ok(());
    };
    let default = region_block(usual_region)?;
    match next_number {
        Some(next_number) if !other_regions.is_empty() => {
            let switch_cases = other_regions.iter().map(|&target_region| {
                Ok((region_functions::region_number(emitter, target_region), region_block(target_region)?))
            });
            let switch_cases = switch_cases.collect::<Emitted<Vec<_>>>()?;
            builder.build_switch(next_number, default, &switch_cases)?
        }
        _ => builder.build_unconditional_branch(default)?,
    };
    Ok(())
}
