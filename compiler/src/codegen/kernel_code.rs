//! What code is to be like, and how each of a kernel's functions begins.

use super::alias::Scopes;
use super::debug_lines::DebugLines;
use super::emit::Emitter;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::module::Module as LlvmModule;
use inkwell::values::FunctionValue;
use lockstep_ir::analysis::underlying_objects::find_apart_arguments;
use lockstep_ir::ir::{Kernel, SourceLoc};
use lockstep_ir::plan::Widening;
use lockstep_ir::target::TargetInfo;
use lockstep_protocol::configuration::Versions;
use lockstep_protocol::kernel_abi::LITTLE_FRAME;
use lockstep_protocol::launch_facts::LaunchFacts;
use std::cell::{Cell, OnceCell};

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
    /// Whether code tells debuggers its names and lines.
    pub debug: bool,
}

/// What the functions of a kernel's code have in common.
#[derive(Clone, Copy)]
pub(super) struct KernelCode<'a, 'ctx> {
    pub context: &'ctx Context,
    pub llvm_module: &'a LlvmModule<'ctx>,
    pub kernel: &'a Kernel,
    pub widening: Option<&'a Widening>,
    pub options: &'a CodeOptions<'a>,
    pub lines: Option<&'a DebugLines<'ctx>>,
}

impl<'a, 'ctx> KernelCode<'a, 'ctx> {
    /// An emitter at the beginning of a function that has no blocks yet. `part` says which part of the kernel it is, if it is not the kernel's own.
    pub fn begin_function(&self, function: FunctionValue<'ctx>, part: Option<&str>) -> Emitter<'ctx, 'a> {
        let context = self.context;
        mark_function(context, function, self.widening.is_some());
        let emitter = Emitter {
            context,
            module: self.llvm_module,
            builder: context.create_builder(),
            function,
            scopes: Scopes::new(context, find_apart_arguments(self.kernel, self.options.launch)),
            target: self.options.target,
            nowhere: OnceCell::new(),
            place: &self.options.place,
            lines: self.lines.map(|lines| lines.describe_function(function, part)),
        };
        emitter.position_at(emitter.append_block("entry"));
        emitter.leave_lines();
        emitter
    }
}

/// What LLVM has to know of every function.
fn mark_function<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>, is_of_gangs: bool) {
    let add_attribute = |attribute| function.add_attribute(AttributeLoc::Function, attribute);
    add_attribute(context.create_enum_attribute(Attribute::get_named_enum_kind_id("nounwind"), 0));
    // LLVM's estimates of quotients and roots are off by more than OpenCL allows.
    add_attribute(context.create_string_attribute("reciprocal-estimates", "none"));
    // A message tells how large the frame is where it is larger.
    add_attribute(context.create_string_attribute("warn-stack-size", &LITTLE_FRAME.to_string()));
    if is_of_gangs {
        // Gangs copy as fast as the C library, and its call would have all vectors spilled around it.
        add_attribute(context.create_string_attribute("no-builtin-memcpy", ""));
    }
}
