//! From IR to LLVM IR of the host.
//!
//! Requires: a verified kernel without barrier instructions, cut into regions.
//! Ensures: a module of its own with one function, a [`KernelEntry`], that runs a chunk of
//! work-groups of launches of which the facts hold; the meaning of every operation is that of the IR, where OpenCL leaves the result open
//! (division by zero) it still does not trap.
//! Phases: lay out scratch memory ([`storage`]); read the call's values ([`frame`]); open the loop over
//! groups ([`groups`]); for each region what it begins with ([`combine`]), then the loops over work-items with the
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
mod calls;
mod coroutines;
mod counters;
mod emit;
pub mod error;
mod estimates;
mod exponents;
mod frame;
mod groups;
mod memory;
mod region;
mod region_functions;
mod vector;
mod work_group_collectives;

use crate::codegen::error::CodegenError;
use crate::jit::JitCode;
use alias::Scopes;
use cranelift_entity::{EntityRef, SecondaryMap};
use emit::{Emitted, Emitter};
use frame::{Call, Frame};
use groups::{Group, GroupLoop};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::module::Module as LlvmModule;
use inkwell::values::{FunctionValue, IntValue};
use lockstep_ir::analysis::spin_loops::{may_wait, region_may_wait};
use lockstep_ir::analysis::underlying_objects::find_apart_arguments;
use lockstep_ir::ir::{Function, Kernel, Module, Region, SourceLoc};
use lockstep_ir::plan::Widening;
use lockstep_ir::plan::storage::{SCRATCH_ALIGN, Storage};
use lockstep_ir::report::Notes;
use lockstep_ir::target::TargetInfo;
use lockstep_protocol::configuration::Versions;
use lockstep_protocol::kernel_abi::{KernelEntry, LaunchFrame, ScratchNeeds};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;
use std::cell::{Cell, OnceCell};
use vector::EmitContext;

/// Owns the LLVM types and constants of one module.
pub use inkwell::context::Context;

/// The name of the kernel's function in its module.
pub const ENTRY_NAME: &str = "lockstep_kernel";

/// A kernel as LLVM IR.
pub struct Generated<'ctx> {
    /// The module; its target is not set yet.
    pub module: LlvmModule<'ctx>,
    /// The scratch memory that the code needs.
    pub needs: ScratchNeeds,
}

/// What code is to be like.
pub struct CodeOptions<'a> {
    /// What holds of the launches that run it.
    pub launch: &'a LaunchFacts,
    /// The machine that is to run it.
    pub target: TargetInfo,
    /// Whether regions are functions of their own.
    pub region_functions: Versions,
    /// Receives the place in the source of what code is generated of, for whoever has to say where that went wrong.
    pub place: Cell<SourceLoc>,
}

/// Regions have blocks from the beginning.
const NO_REGION: CodegenError = CodegenError::Missing("block at which a region starts");

/// Generates the code of one kernel of `module`, which may run in gangs. What
/// becomes of its accesses is noted.
pub fn generate_kernel<'ctx>(
    context: &'ctx Context,
    module: &Module,
    kernel: &Kernel,
    widening: Option<&Widening>,
    options: &CodeOptions<'_>,
    notes: &Notes,
) -> Emitted<Generated<'ctx>> {
    let &CodeOptions { launch, target, region_functions, ref place } = options;
    let llvm = context.create_module(&kernel.name);
    let layout = widening.map_or(Layout::X, |widening| widening.layout);
    let storage = widening.map_or_else(|| Storage::lay_out(kernel, 1, layout), |widening| widening.storage.clone());
    let emit_to = |function: FunctionValue<'ctx>| {
        mark_function(context, function, widening);
        let emitter = Emitter {
            context,
            module: &llvm,
            builder: context.create_builder(),
            function,
            scopes: Scopes::new(context, find_apart_arguments(kernel, launch)),
            target,
            nowhere: OnceCell::new(),
            place,
        };
        emitter.position_at(emitter.append_block("entry"));
        emitter
    };
    let emitter = emit_to(declare_entry(context, &llvm));
    let argument = |index| {
        emitter.function.get_nth_param(index).ok_or(CodegenError::Missing("such parameter of the kernel's function"))
    };
    let call = Call {
        frame: argument(0)?.into_pointer_value(),
        scratch: argument(1)?.into_pointer_value(),
        once: SecondaryMap::new(),
    };
    let mut frame = frame::enter_kernel(&emitter, module, kernel, &storage, launch, layout, &call)?;
    let next = widening.map(|_| emitter.builder.build_alloca(context.i32_type(), "next")).transpose()?;
    let separate = match region_functions {
        Versions::Never => false,
        Versions::WherePays => region_functions::has_many_regions(kernel),
        Versions::Always => true,
    };
    let record = match separate || may_wait(kernel) {
        true => Some(region_functions::open_record(&emitter, kernel, &frame, &call)?),
        false => None,
    };
    counters::fill_copies(&emitter, &frame, kernel)?;
    let groups = groups::open_groups(&emitter, &frame, argument(2)?.into_int_value(), argument(3)?.into_int_value())?;
    let mut starts: SecondaryMap<Region, Option<BasicBlock>> = SecondaryMap::new();
    for region in kernel.regions.keys() {
        starts[region] = Some(emitter.append_block("region"));
    }
    let first = starts[Region::new(0)].ok_or(NO_REGION)?;
    emitter.builder.build_unconditional_branch(first)?;
    for region in kernel.regions.keys() {
        emitter.position_at(starts[region].ok_or(NO_REGION)?);
        let body = &kernel.regions[region];
        let combined = work_group_collectives::emit_combine(&emitter, &frame, kernel, &groups.group, region)?;
        let group = &Group { combined, ..groups.group };
        frame.enter_region(&emitter, kernel, body)?;
        let (nexts, chosen) = match (widening, next) {
            _ if let Some(record) = record.filter(|_| separate || region_may_wait(body)) => {
                let function = region_functions::declare_function(&emitter, region);
                region_functions::pass_group(&emitter, record, kernel, &frame, group)?;
                match region_may_wait(body) {
                    true => coroutines::take_turns(&emitter, function, record)?,
                    false => region_functions::call_region(&emitter, function, record)?,
                }
                let chosen = region_functions::next_region(&emitter, record)?;
                let emitter = &emit_to(function);
                let call = region_functions::called_with(emitter, kernel)?;
                let shared = region_functions::kept_once(emitter, kernel, &frame.shared)?;
                let frame = frame::enter_kernel(emitter, module, kernel, &storage, launch, layout, &call)?;
                let frame = Frame { shared, ..frame };
                let combined = combined.and(kernel.combines[region]).map(|combine| kernel.live[combine.live_slot].ty);
                let (storage, frame) = (&storage, &frame);
                let group = &region_functions::running_group(emitter, frame, combined)?;
                let around =
                    widening.map(|widening| EmitContext { emitter, kernel, storage, frame, group, widening, notes });
                let gangs = around.map(|around| (around, &around.widening.regions[region]));
                let mut nexts = match gangs.filter(|(_, plan)| !plan.alone) {
                    Some((around, plan)) if region_may_wait(body) => vector::take_gangs(around, body, plan)?,
                    None if region_may_wait(body) => {
                        coroutines::run_items(emitter, kernel, storage, frame, group, body)?
                    }
                    Some((around, plan)) => {
                        let address = region_functions::next_place(emitter)?;
                        let nexts = vector::run_gangs(around, body, plan, address, |next| {
                            region_functions::region_number(emitter, next)
                        })?;
                        emitter.builder.build_return(None)?;
                        nexts
                    }
                    None => {
                        let (nexts, chosen) = run_items(emitter, kernel, storage, frame, group, body)?;
                        region_functions::close_function(emitter, &nexts, chosen)?;
                        nexts
                    }
                };
                nexts.sort();
                nexts.dedup();
                (nexts, Some(chosen))
            }
            (Some(widening), Some(next)) if !widening.regions[region].alone => {
                let (emitter, storage, frame) = (&emitter, &storage, &frame);
                let around = EmitContext { emitter, kernel, storage, frame, group, widening, notes };
                let plan = &widening.regions[region];
                let nexts =
                    vector::run_gangs(around, body, plan, next, |next| region_functions::region_number(emitter, next))?;
                let chosen = emitter.builder.build_load(context.i32_type(), next, "")?.into_int_value();
                (nexts, Some(chosen))
            }
            _ => run_items(&emitter, kernel, &storage, &frame, group, body)?,
        };
        go_on(&emitter, &groups, &starts, &nexts, chosen)?;
    }
    groups.close_loop(&emitter, &frame)?;
    counters::merge_copies(&emitter, &frame, kernel)?;
    emitter.builder.build_return(None)?;
    drop(emitter);
    Ok(Generated { module: llvm, needs: storage.needs })
}

/// The kernel's function in loaded code, which has to outlive its calls.
pub fn kernel_entry(code: &JitCode) -> KernelEntry {
    // SAFETY: `generate` gave the function named `ENTRY_NAME` this type; its address is not null.
    unsafe { std::mem::transmute::<*const std::ffi::c_void, KernelEntry>(code.entry_address()) }
}

/// What LLVM has to know of every function.
fn mark_function<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>, widening: Option<&Widening>) {
    let mark = |attribute| function.add_attribute(AttributeLoc::Function, attribute);
    mark(context.create_enum_attribute(Attribute::get_named_enum_kind_id("nounwind"), 0));
    // LLVM's estimates of quotients and roots are off by more than OpenCL allows.
    mark(context.create_string_attribute("reciprocal-estimates", "none"));
    if let Some(widening) = widening {
        mark(context.create_string_attribute("warn-stack-size", &widening.stack.to_string()));
        // Gangs copy as fast as the C library, and its call would have all vectors spilled around it.
        mark(context.create_string_attribute("no-builtin-memcpy", ""));
    }
}

fn declare_entry<'ctx>(context: &'ctx Context, llvm: &LlvmModule<'ctx>) -> FunctionValue<'ctx> {
    let pointer_type = context.ptr_type(inkwell::AddressSpace::default());
    let i64 = context.i64_type();
    let params = [pointer_type.into(), pointer_type.into(), i64.into(), i64.into()];
    let function = llvm.add_function(ENTRY_NAME, context.void_type().fn_type(&params, false), None);
    let add = |place, name, value| {
        let kind = Attribute::get_named_enum_kind_id(name);
        function.add_attribute(place, context.create_enum_attribute(kind, value));
    };
    let frame = AttributeLoc::Param(0);
    add(frame, "noalias", 0);
    add(frame, "readonly", 0);
    add(frame, "noundef", 0);
    add(frame, "align", 8);
    add(frame, "dereferenceable", size_of::<LaunchFrame>() as u64);
    // No buffer lies in the scratch memory, so what is not computed from its address is elsewhere.
    let scratch = AttributeLoc::Param(1);
    add(scratch, "noalias", 0);
    add(scratch, "noundef", 0);
    add(scratch, "align", SCRATCH_ALIGN);
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
    group: &Group<'ctx>,
    body: &Function,
) -> Emitted<Nexts<'ctx>> {
    let items = groups::open_items(emitter, group)?;
    let exits = region::ScalarEmitter::emit_region(emitter, kernel, storage, frame, group, &items.item, body)?;
    for &(_, source) in &exits {
        emitter.position_at(source);
        emitter.builder.build_unconditional_branch(items.latch)?;
    }
    emitter.position_at(items.latch);
    let mut nexts: Vec<Option<Region>> = exits.iter().map(|&(next, _)| next).collect();
    nexts.sort();
    nexts.dedup();
    let chosen = if nexts.len() > 1 {
        let next = emitter.builder.build_phi(emitter.context.i32_type(), "next")?;
        for &(to, source) in &exits {
            next.add_incoming(&[(&region_functions::region_number(emitter, to), source)]);
        }
        Some(next.as_basic_value().into_int_value())
    } else {
        None
    };
    if !nexts.is_empty() {
        items.close_loops(emitter, group)?;
    }
    Ok((nexts, chosen))
}

/// Where the group goes on behind a region.
fn go_on<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    groups: &GroupLoop<'ctx>,
    starts: &SecondaryMap<Region, Option<BasicBlock<'ctx>>>,
    nexts: &[Option<Region>],
    chosen: Option<IntValue<'ctx>>,
) -> Emitted<()> {
    let builder = &emitter.builder;
    let place = |next: Option<Region>| match next {
        Some(region) => starts[region].ok_or(NO_REGION),
        None => Ok(groups.latch),
    };
    let Some((&usual, others)) = nexts.split_first() else {
        // No work-item ever leaves the region.
        builder.build_unreachable()?;
        return Ok(());
    };
    let default = place(usual)?;
    match chosen {
        Some(chosen) if !others.is_empty() => {
            let cases = others.iter().map(|&to| Ok((region_functions::region_number(emitter, to), place(to)?)));
            let cases = cases.collect::<Emitted<Vec<_>>>()?;
            builder.build_switch(chosen, default, &cases)?
        }
        _ => builder.build_unconditional_branch(default)?,
    };
    Ok(())
}
