//! Tells LLVM which memory accesses cannot touch the same bytes: those through pointers to different
//! address spaces, those of kept values, which no pointer of the kernel reaches, and those through
//! different arguments, where these are `restrict` or known to lead to different memory.
//!
//! A generic address may be private, global or local. Constant memory is not written to while a kernel
//! runs, so whether it overlaps a buffer does not matter.

use inkwell::context::Context;
use inkwell::values::{InstructionValue, MetadataValue};
use lockstep_ir::analysis::underlying_objects::{Apart, Origin};
use lockstep_protocol::types::Space;
use std::cell::Cell;

/// A part of memory that is apart from the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// What pointers to one address space reach.
    Space(Space),
    /// Values that are kept over a barrier.
    Kept,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Space(address_space) => address_space.name(),
            Part::Kept => "kept",
        }
    }
}

/// The parts that are apart from each other, in the order of the scopes.
const APART: [Part; 5] = [
    Part::Space(Space::Private),
    Part::Space(Space::Global),
    Part::Space(Space::Constant),
    Part::Space(Space::Local),
    Part::Kept,
];

/// LLVM's alias scopes for the parts of memory.
pub struct Scopes<'ctx> {
    context: &'ctx Context,
    scopes: Vec<MetadataValue<'ctx>>,
    /// The arguments that are apart from others.
    apart: Vec<Apart>,
    /// Of what is reached through each of them.
    arguments: Vec<MetadataValue<'ctx>>,
    /// Where the address of the access comes from that is emitted.
    origin: Cell<Origin>,
    scope_kind: u32,
    noalias_kind: u32,
}

impl<'ctx> Scopes<'ctx> {
    /// Makes the scopes, given the arguments that are apart from others.
    pub fn new(context: &'ctx Context, apart_arguments: Vec<Apart>) -> Scopes<'ctx> {
        let domain = context.metadata_node(&[context.metadata_string("lockstep").into()]);
        let scope = |memory_part: Part| {
            context.metadata_node(&[context.metadata_string(memory_part.name()).into(), domain.into()])
        };
        // What is promised in one domain says nothing of another one's scopes.
        let promises = context.metadata_node(&[context.metadata_string("lockstep arguments").into()]);
        let argument = |index: usize| {
            let name = context.metadata_string(&format!("argument {index}"));
            context.metadata_node(&[name.into(), promises.into()])
        };
        Scopes {
            context,
            scopes: APART.map(scope).to_vec(),
            arguments: (0..apart_arguments.len()).map(argument).collect(),
            apart: apart_arguments,
            origin: Cell::new(Origin::Unknown),
            scope_kind: context.get_kind_id("alias.scope"),
            noalias_kind: context.get_kind_id("noalias"),
        }
    }

    /// The arguments that are apart from others.
    pub fn apart(&self) -> &[Apart] {
        &self.apart
    }

    /// Tells where the address of the access comes from that is emitted next.
    pub fn come_from(&self, origin: Origin) {
        self.origin.set(origin);
    }

    /// Runs `emit`. The accesses that it emits count as coming from `origin`.
    pub fn emit_from<T>(&self, origin: Origin, emit: impl FnOnce() -> T) -> T {
        let around = self.origin.replace(origin);
        let emitted = emit();
        self.origin.set(around);
        emitted
    }

    /// Whether what the access that is emitted reads is read by all and written by none.
    pub fn is_invariant(&self) -> bool {
        matches!(self.origin.get(), Origin::Argument(number) if self.apart[number].invariant)
    }

    /// Marks an instruction that touches these parts and no others.
    pub fn mark_parts(&self, instruction: InstructionValue<'ctx>, memory_parts: &[Part]) {
        let touched = |memory_part: Part| {
            let generic = memory_parts.contains(&Part::Space(Space::Generic));
            let in_generic = [Space::Private, Space::Global, Space::Local].map(Part::Space).contains(&memory_part);
            memory_parts.contains(&memory_part) || generic && in_generic
        };
        let (mut in_scopes, mut out_of_scopes) = (Vec::new(), Vec::new());
        for (&memory_part, &scope) in APART.iter().zip(&self.scopes) {
            let scope_list = if touched(memory_part) { &mut in_scopes } else { &mut out_of_scopes };
            scope_list.push(scope.into());
        }
        if self.origin.get() != Origin::Unknown {
            for (index, &scope) in self.arguments.iter().enumerate() {
                let is_origin = self.origin.get() == Origin::Argument(index);
                let scope_list = if is_origin { &mut in_scopes } else { &mut out_of_scopes };
                scope_list.push(scope.into());
            }
        }
        // Refused only for what is no node.
        let _ = instruction.set_metadata(self.context.metadata_node(&in_scopes), self.scope_kind);
        let _ = instruction.set_metadata(self.context.metadata_node(&out_of_scopes), self.noalias_kind);
    }
}
