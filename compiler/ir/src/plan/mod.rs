//! The plan: what code generation needs to know to run a region for a gang of work-items at a time.
//!
//! A gang is W work-items in the lanes of SIMD registers: consecutive along one dimension, several rows of a group, or
//! consecutive by linear ids ([`lockstep_protocol::layout`]). This part is the plan, in terms of our IR; `codegen/vector` writes it
//! as LLVM IR.
//!
//! [`passes`] is the list of what a kernel goes through from import to its plan, [`pass_runner`] what walks it, and
//! [`kernel_state`] and [`region_state`] are what is known on the way.
//!
//! Requires: a kernel as imported.
//! Ensures: the regions are linearized (`Stage::Linearized`) but those in which one work-item runs after the other, and
//! each has a [`RegionPlan`]; or the kernel means what it meant and there is the reason why its work-items run one after the
//! other.
//! Source: Moll 2021, chapters 5 and 11; Karrenberg & Hack 2012, section 3.3.

pub mod access_lowering;
pub mod coherence_versions;
mod flattened_loops;
pub mod function_forms;
mod fused_branches;
pub mod gang_kinds;
pub mod held_forms;
mod kernel_passes;
pub mod kernel_state;
mod launch_versions;
mod notes;
mod pass;
pub mod pass_runner;
pub mod passes;
mod region_passes;
mod region_plan;
mod region_shapes;
pub mod region_state;
pub mod storage;
pub mod value_form;
mod widening;
pub mod width_choice;
pub mod width_selection;

pub use region_plan::RegionPlan;
pub use widening::{Reason, Widening};
