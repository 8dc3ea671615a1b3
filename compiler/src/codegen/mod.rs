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
mod combine;
mod counters;
mod emit;
mod estimates;
mod exponents;
mod frame;
mod groups;
mod memory;
mod region;
mod region_functions;
mod turns;
mod vector;

use crate::jit::JitCode;
use alias::Scopes;
use cranelift_entity::{EntityRef, SecondaryMap};
use emit::{Emitted, Emitter};
use frame::{Call, Frame};
use groups::{Group, GroupLoop};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::BuilderError;
use inkwell::module::Module as LlvmModule;
use inkwell::values::{FunctionValue, IntValue};
use lockstep_ir::analysis::origins::find_apart_arguments;
use lockstep_ir::analysis::waiting::{may_wait, region_may_wait};
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

/// Generates the code of one kernel of `module`, which may run in gangs. What
/// becomes of its accesses is noted.
pub fn generate_kernel<'ctx>(
    ctx: &'ctx Context,
    module: &Module,
    kernel: &Kernel,
    widening: Option<&Widening>,
    options: &CodeOptions<'_>,
    notes: &Notes,
) -> Result<Generated<'ctx>, BuilderError> {
    let &CodeOptions { launch, target, region_functions, ref place } = options;
    let llvm = ctx.create_module(&kernel.name);
    let layout = widening.map_or(Layout::X, |widening| widening.layout);
    let storage = widening.map_or_else(|| Storage::lay_out(kernel, 1, layout), |widening| widening.storage.clone());
    let emit_to = |function: FunctionValue<'ctx>| {
        mark_function(ctx, function, widening);
        let emit = Emitter {
            context: ctx,
            module: &llvm,
            builder: ctx.create_builder(),
            function,
            scopes: Scopes::new(ctx, find_apart_arguments(kernel, launch)),
            target,
            nowhere: OnceCell::new(),
            place,
        };
        emit.position_at(emit.append_block("entry"));
        emit
    };
    let emit = emit_to(declare_entry(ctx, &llvm));
    let argument = |index| emit.function.get_nth_param(index).ok_or(BuilderError::UnsetPosition);
    let call = Call {
        frame: argument(0)?.into_pointer_value(),
        scratch: argument(1)?.into_pointer_value(),
        once: SecondaryMap::new(),
    };
    let mut frame = frame::enter_kernel(&emit, module, kernel, &storage, launch, layout, &call)?;
    let next = widening.map(|_| emit.builder.build_alloca(ctx.i32_type(), "next")).transpose()?;
    let separate = match region_functions {
        Versions::Never => false,
        Versions::WherePays => region_functions::has_many_regions(kernel),
        Versions::Always => true,
    };
    let record = match separate || may_wait(kernel) {
        true => Some(region_functions::open_record(&emit, kernel, &frame, &call)?),
        false => None,
    };
    counters::fill_copies(&emit, &frame, kernel)?;
    let groups = groups::open_groups(&emit, &frame, argument(2)?.into_int_value(), argument(3)?.into_int_value())?;
    let mut starts: SecondaryMap<Region, Option<BasicBlock>> = SecondaryMap::new();
    for region in kernel.regions.keys() {
        starts[region] = Some(emit.append_block("region"));
    }
    let first = starts[Region::new(0)].ok_or(BuilderError::UnsetPosition)?;
    emit.builder.build_unconditional_branch(first)?;
    for region in kernel.regions.keys() {
        emit.position_at(starts[region].ok_or(BuilderError::UnsetPosition)?);
        let body = &kernel.regions[region];
        let combined = combine::emit_combine(&emit, &frame, kernel, &groups.group, region)?;
        let group = &Group { combined, ..groups.group };
        frame.enter_region(&emit, kernel, body)?;
        let (nexts, chosen) = match (widening, next) {
            _ if let Some(record) = record.filter(|_| separate || region_may_wait(body)) => {
                let function = region_functions::declare_function(&emit, region);
                region_functions::pass_group(&emit, record, kernel, &frame, group)?;
                match region_may_wait(body) {
                    true => turns::take_turns(&emit, function, record)?,
                    false => region_functions::call_region(&emit, function, record)?,
                }
                let chosen = region_functions::next_region(&emit, record)?;
                let emit = &emit_to(function);
                let call = region_functions::called_with(emit, kernel)?;
                let shared = region_functions::kept_once(emit, kernel, &frame.shared)?;
                let frame = frame::enter_kernel(emit, module, kernel, &storage, launch, layout, &call)?;
                let frame = Frame { shared, ..frame };
                let combined = combined.and(kernel.combines[region]).map(|combine| kernel.live[combine.live_slot].ty);
                let (storage, frame) = (&storage, &frame);
                let group = &region_functions::running_group(emit, frame, combined)?;
                let around = widening.map(|widening| EmitContext {
                    emitter: emit,
                    kernel,
                    storage,
                    frame,
                    group,
                    widening,
                    notes,
                });
                let gangs = around.map(|around| (around, &around.widening.regions[region]));
                let mut nexts = match gangs.filter(|(_, plan)| !plan.alone) {
                    Some((around, plan)) if region_may_wait(body) => vector::take_gangs(around, body, plan)?,
                    None if region_may_wait(body) => turns::run_items(emit, kernel, storage, frame, group, body)?,
                    Some((around, plan)) => {
                        let place = region_functions::next_place(emit)?;
                        let nexts = vector::run_gangs(around, body, plan, place, |next| region_number(emit, next))?;
                        emit.builder.build_return(None)?;
                        nexts
                    }
                    None => {
                        let (nexts, chosen) = run_items(emit, kernel, storage, frame, group, body)?;
                        region_functions::close_function(emit, &nexts, chosen)?;
                        nexts
                    }
                };
                nexts.sort();
                nexts.dedup();
                (nexts, Some(chosen))
            }
            (Some(widening), Some(next)) if !widening.regions[region].alone => {
                let (emit, storage, frame) = (&emit, &storage, &frame);
                let around = EmitContext { emitter: emit, kernel, storage, frame, group, widening, notes };
                let plan = &widening.regions[region];
                let nexts = vector::run_gangs(around, body, plan, next, |next| region_number(emit, next))?;
                let chosen = emit.builder.build_load(ctx.i32_type(), next, "")?.into_int_value();
                (nexts, Some(chosen))
            }
            _ => run_items(&emit, kernel, &storage, &frame, group, body)?,
        };
        go_on(&emit, &groups, &starts, &nexts, chosen)?;
    }
    groups.close_loop(&emit, &frame)?;
    counters::merge_copies(&emit, &frame, kernel)?;
    emit.builder.build_return(None)?;
    drop(emit);
    Ok(Generated { module: llvm, needs: storage.needs })
}

/// The kernel's function in loaded code, which has to outlive its calls.
pub fn kernel_entry(code: &JitCode) -> KernelEntry {
    // SAFETY: `generate` gave the function named `ENTRY_NAME` this type; its address is not null.
    unsafe { std::mem::transmute::<*const std::ffi::c_void, KernelEntry>(code.entry_address()) }
}

/// What LLVM has to know of every function.
fn mark_function<'ctx>(ctx: &'ctx Context, function: FunctionValue<'ctx>, widening: Option<&Widening>) {
    let mark = |attribute| function.add_attribute(AttributeLoc::Function, attribute);
    mark(ctx.create_enum_attribute(Attribute::get_named_enum_kind_id("nounwind"), 0));
    // LLVM's estimates of quotients and roots are off by more than OpenCL allows.
    mark(ctx.create_string_attribute("reciprocal-estimates", "none"));
    if let Some(widening) = widening {
        mark(ctx.create_string_attribute("warn-stack-size", &widening.stack.to_string()));
        // Gangs copy as fast as the C library, and its call would have all vectors spilled around it.
        mark(ctx.create_string_attribute("no-builtin-memcpy", ""));
    }
}

fn declare_entry<'ctx>(ctx: &'ctx Context, llvm: &LlvmModule<'ctx>) -> FunctionValue<'ctx> {
    let ptr = ctx.ptr_type(inkwell::AddressSpace::default());
    let i64 = ctx.i64_type();
    let params = [ptr.into(), ptr.into(), i64.into(), i64.into()];
    let function = llvm.add_function(ENTRY_NAME, ctx.void_type().fn_type(&params, false), None);
    let add = |place, name, value| {
        let kind = Attribute::get_named_enum_kind_id(name);
        function.add_attribute(place, ctx.create_enum_attribute(kind, value));
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

/// A region's number where the group goes on; 0 is the end.
fn region_number<'ctx>(emit: &Emitter<'ctx, '_>, next: Option<Region>) -> IntValue<'ctx> {
    let number = next.map_or(0, |region| region.index() as u64 + 1);
    emit.context.i32_type().const_int(number, false)
}

/// The regions where a group may go on, and the number of the one where it does if there are several.
type Nexts<'ctx> = (Vec<Option<Region>>, Option<IntValue<'ctx>>);

/// The loops over work-items around one region's code; emission goes on behind them.
fn run_items<'ctx>(
    emit: &Emitter<'ctx, '_>,
    kernel: &Kernel,
    storage: &Storage,
    frame: &Frame<'ctx>,
    group: &Group<'ctx>,
    body: &Function,
) -> Emitted<Nexts<'ctx>> {
    let items = groups::open_items(emit, group)?;
    let exits = region::ScalarEmitter::emit_region(emit, kernel, storage, frame, group, &items.item, body)?;
    for &(_, from) in &exits {
        emit.position_at(from);
        emit.builder.build_unconditional_branch(items.latch)?;
    }
    emit.position_at(items.latch);
    let mut nexts: Vec<Option<Region>> = exits.iter().map(|&(next, _)| next).collect();
    nexts.sort();
    nexts.dedup();
    let chosen = if nexts.len() > 1 {
        let next = emit.builder.build_phi(emit.context.i32_type(), "next")?;
        for &(to, from) in &exits {
            next.add_incoming(&[(&region_number(emit, to), from)]);
        }
        Some(next.as_basic_value().into_int_value())
    } else {
        None
    };
    if !nexts.is_empty() {
        items.close_loops(emit, group)?;
    }
    Ok((nexts, chosen))
}

/// Where the group goes on behind a region.
fn go_on<'ctx>(
    emit: &Emitter<'ctx, '_>,
    groups: &GroupLoop<'ctx>,
    starts: &SecondaryMap<Region, Option<BasicBlock<'ctx>>>,
    nexts: &[Option<Region>],
    chosen: Option<IntValue<'ctx>>,
) -> Emitted<()> {
    let b = &emit.builder;
    let place = |next: Option<Region>| match next {
        Some(region) => starts[region].ok_or(BuilderError::UnsetPosition),
        None => Ok(groups.latch),
    };
    let Some((&usual, others)) = nexts.split_first() else {
        // No work-item ever leaves the region.
        b.build_unreachable()?;
        return Ok(());
    };
    let default = place(usual)?;
    match chosen {
        Some(chosen) if !others.is_empty() => {
            let cases = others.iter().map(|&to| Ok((region_number(emit, to), place(to)?)));
            let cases = cases.collect::<Emitted<Vec<_>>>()?;
            b.build_switch(chosen, default, &cases)?
        }
        _ => b.build_unconditional_branch(default)?,
    };
    Ok(())
}
