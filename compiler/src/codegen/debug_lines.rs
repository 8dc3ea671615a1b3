//! What debuggers learn of generated code: the kernel's name, and from which lines of its source instructions come.
//!
//! An instruction of the kernel has the place that our IR has for it, or none. The loops around the kernel's code, over groups and
//! work-items, are the kernel's own: they have the line where it is defined.

use super::emit::Emitter;
use inkwell::context::Context;
use inkwell::debug_info::{
    AsDIScope, DICompileUnit, DIFlags, DIFlagsConstants, DISubprogram, DWARFEmissionKind, DWARFSourceLanguage,
    DebugInfoBuilder,
};
use inkwell::module::{FlagBehavior, Module as LlvmModule};
use inkwell::values::FunctionValue;
use lockstep_ir::ir::{Definition, Kernel, SourceLoc};

/// The version of DWARF that is written: that of debuggers since 2020.
const DWARF_VERSION: u64 = 5;

/// A module's debug information under construction. It goes before the module does.
pub struct DebugLines<'ctx> {
    builder: DebugInfoBuilder<'ctx>,
    unit: DICompileUnit<'ctx>,
    kernel_name: String,
    /// The line where the kernel is defined; 0 when unknown.
    line: u32,
}

/// A function's debug information.
#[derive(Clone, Copy)]
pub struct FunctionLines<'ctx, 'a> {
    lines: &'a DebugLines<'ctx>,
    subprogram: DISubprogram<'ctx>,
}

impl<'ctx> DebugLines<'ctx> {
    /// Begins the debug information of a kernel's module.
    pub fn describe_module(context: &'ctx Context, llvm_module: &LlvmModule<'ctx>, kernel: &Kernel) -> Self {
        let add_flag = |name, value| {
            let flag_value = context.i32_type().const_int(value, false);
            llvm_module.add_basic_value_flag(name, FlagBehavior::Warning, flag_value);
        };
        add_flag("Debug Info Version", inkwell::debug_info::debug_metadata_version().into());
        add_flag("Dwarf Version", DWARF_VERSION);
        let unknown = Definition { file: String::new(), folder: String::new(), line: 0 };
        let Definition { file, folder, line } = kernel.definition.as_ref().unwrap_or(&unknown);
        let (builder, unit) = llvm_module.create_debug_info_builder(
            true,
            DWARFSourceLanguage::C99,
            file,
            folder,
            "Lockstep",
            true,
            "",
            0,
            "",
            DWARFEmissionKind::Full,
            0,
            false,
            false,
            "",
            "",
        );
        DebugLines { builder, unit, kernel_name: kernel.name.clone(), line: *line }
    }

    /// Gives a function its name for debuggers: the kernel's, and the part of it that the function is, if it is one.
    pub fn describe_function(&self, function: FunctionValue<'ctx>, part: Option<&str>) -> FunctionLines<'ctx, '_> {
        let DebugLines { builder, unit, kernel_name, line } = self;
        let name = part.map_or_else(|| kernel_name.clone(), |part| format!("{kernel_name}.{part}"));
        let function_type = builder.create_subroutine_type(unit.get_file(), None, &[], DIFlags::ZERO);
        let scope = unit.as_debug_info_scope();
        let subprogram = builder.create_function(
            scope,
            &name,
            None,
            unit.get_file(),
            *line,
            function_type,
            part.is_some(),
            true,
            *line,
            DIFlags::ZERO,
            true,
        );
        function.set_subprogram(subprogram);
        FunctionLines { lines: self, subprogram }
    }

    /// Ends the module's debug information. Verification comes later.
    pub fn finish_module(self) {
        self.builder.finalize();
    }
}

impl<'ctx> Emitter<'ctx, '_> {
    /// What is emitted from now on comes from this place in the source.
    pub fn come_to(&self, location: SourceLoc) {
        self.place.set(location);
        self.tell_line(location);
    }

    /// Debuggers hear that what is emitted from now on comes from this place in the source, or that it is unknown.
    pub fn tell_line(&self, location: SourceLoc) {
        match self.lines {
            Some(_) if location.line == 0 => self.builder.unset_current_debug_location(),
            Some(lines) => self.set_line(lines, location),
            None => {}
        }
    }

    /// What is emitted from now on is the kernel's, and of no line of its body.
    pub fn leave_lines(&self) {
        if let Some(lines) = self.lines {
            self.set_line(lines, SourceLoc { line: lines.lines.line, column: 0 });
        }
    }

    fn set_line(&self, function_lines: FunctionLines<'ctx, '_>, location: SourceLoc) {
        let FunctionLines { lines, subprogram } = function_lines;
        let SourceLoc { line, column } = location;
        let scope = subprogram.as_debug_info_scope();
        let debug_location = lines.builder.create_debug_location(self.context, line, column, scope, None);
        self.builder.set_current_debug_location(debug_location);
    }
}
