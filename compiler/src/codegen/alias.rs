//! Tells LLVM which memory accesses cannot touch the same bytes: those through pointers to different
//! address spaces, and those of kept values, which no pointer of the kernel reaches.
//!
//! A generic address may be private, global or local. Constant memory is not written to while a kernel
//! runs, so whether it overlaps a buffer does not matter.

use crate::ir::Space;
use inkwell::context::Context;
use inkwell::values::{InstructionValue, MetadataValue};

/// A part of memory that is apart from the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// What pointers to one address space reach.
    Space(Space),
    /// Kept values.
    Kept,
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
    ctx: &'ctx Context,
    scopes: Vec<MetadataValue<'ctx>>,
    scope_kind: u32,
    noalias_kind: u32,
}

impl<'ctx> Scopes<'ctx> {
    /// Makes the scopes.
    pub fn new(ctx: &'ctx Context) -> Scopes<'ctx> {
        let domain = ctx.metadata_node(&[ctx.metadata_string("lockstep").into()]);
        let scope = |part: Part| {
            let name = match part {
                Part::Space(space) => space.name(),
                Part::Kept => "kept",
            };
            ctx.metadata_node(&[ctx.metadata_string(name).into(), domain.into()])
        };
        Scopes {
            ctx,
            scopes: APART.map(scope).to_vec(),
            scope_kind: ctx.get_kind_id("alias.scope"),
            noalias_kind: ctx.get_kind_id("noalias"),
        }
    }

    /// Marks an instruction that touches these parts and no others.
    pub fn mark(&self, inst: InstructionValue<'ctx>, parts: &[Part]) {
        let touched = |part: Part| {
            let generic = parts.contains(&Part::Space(Space::Generic));
            let in_generic = [Space::Private, Space::Global, Space::Local].map(Part::Space).contains(&part);
            parts.contains(&part) || generic && in_generic
        };
        let list = |wanted: bool| {
            let of = APART.iter().zip(&self.scopes).filter(|&(&part, _)| touched(part) == wanted);
            let scopes: Vec<_> = of.map(|(_, &scope)| scope.into()).collect();
            self.ctx.metadata_node(&scopes)
        };
        // Refused only for what is no node.
        let _ = inst.set_metadata(list(true), self.scope_kind);
        let _ = inst.set_metadata(list(false), self.noalias_kind);
    }
}
