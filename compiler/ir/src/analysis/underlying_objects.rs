//! Which argument an address comes from, as far as that is known to matter.
//!
//! A `restrict` argument says that what a work-item changes through it, it reaches in no other way (C99,
//! 6.7.3.1). Work-items that reach one place through different arguments are apart by this rule only where
//! nothing orders them, so nothing is concluded in kernels with barriers, nor where one may wait for others.
//!
//! Of the launch may be known that an argument leads to memory which no other argument does
//! ([`LaunchFacts::apart`], [`LaunchFacts::streams`]). Addresses that are read from memory may lead anywhere all the same.
//!
//! Requires: a region, and what holds of the launch.
//! Ensures: memory that is reached through an argument in the answer is reached by no address of another origin but
//! [`Origin::Unknown`].
//! Phases: the arguments; then a fixed point over everything that passes addresses on.
//! Source: C99, 6.7.3.1, for `restrict`.

use crate::analysis::spin_loops::may_wait;
use crate::ir::{Function, InstData, Kernel, TernaryOp, UnaryOp, Value};
use cranelift_entity::SecondaryMap;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::parameters::{Input, Param, ParamKind};

/// Where an address comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Origin {
    /// It may point anywhere.
    #[default]
    Unknown,
    /// An argument that is apart from the others, by its number among these.
    Argument(usize),
    /// None of these.
    Other,
}

/// An argument through which memory is reached that is reached in no other way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Apart {
    /// The number of the parameter.
    pub param: u32,
    /// Whether that is read by all and written by none.
    pub invariant: bool,
    /// Whether it is written once, and more than the caches keep ([`LaunchFacts::streams`]).
    pub streamed: bool,
}

/// The arguments that are apart from the others.
pub fn find_apart_arguments(kernel: &Kernel, launch_facts: &LaunchFacts) -> Vec<Apart> {
    let mut arguments: Vec<Apart> = Vec::new();
    for param in find_restrict_params(kernel) {
        arguments.push(Apart { param, invariant: kernel.params[param as usize].readonly, streamed: false });
    }
    for (bit, &(input, _)) in (0..32).zip(&kernel.inputs) {
        let [is_apart, streamed] = [launch_facts.apart, launch_facts.streams].map(|inputs| inputs >> bit & 1 == 1);
        let Input::Value { param, offset: 0 } = input else { continue };
        match arguments.iter_mut().find(|other| other.param == param) {
            Some(other) => other.streamed |= streamed,
            // Whoever has its address from elsewhere may write there.
            None if is_apart || streamed => arguments.push(Apart { param, invariant: false, streamed }),
            None => {}
        }
    }
    arguments
}

/// The kernel parameters that are `restrict`, by number; none if that says nothing.
fn find_restrict_params(kernel: &Kernel) -> Vec<u32> {
    if kernel.regions.len() > 1 || may_wait(kernel) {
        return Vec::new();
    }
    let is_restrict = |&(_, parameter): &(u32, &Param)| {
        parameter.restrict && matches!(parameter.kind, ParamKind::Pointer(_) | ParamKind::Local)
    };
    (0..).zip(&kernel.params).filter(is_restrict).map(|(number, _)| number).collect()
}

/// Where the addresses of a function come from.
pub struct Origins(SecondaryMap<Value, Option<Origin>>);

impl Origins {
    /// Follows the addresses of a function, given what [`find_apart_arguments`] says.
    pub fn trace_addresses(kernel: &Kernel, function: &Function, apart: &[Apart]) -> Origins {
        let mut origins = Origins(SecondaryMap::new());
        if apart.is_empty() {
            return origins;
        }
        for (&(input, _), &value) in kernel.inputs.iter().zip(&function.blocks[function.entry_block()].params) {
            let origin = match input {
                // A pointer in a struct may lead anywhere.
                Input::Value { param, .. } if kernel.params[param as usize].kind == ParamKind::Value => Origin::Unknown,
                Input::Value { param, offset: 0 } => {
                    apart.iter().position(|argument| argument.param == param).map_or(Origin::Other, Origin::Argument)
                }
                _ => Origin::Other,
            };
            origins.0[value] = Some(origin);
        }
        while origins.propagate_once(function) {}
        origins
    }

    /// Where the address of a plain load or store comes from. Atomic accesses speak to other work-items, and
    /// copies have two addresses.
    pub fn of_access(&self, inst_data: &InstData) -> Origin {
        match inst_data {
            InstData::Load { pointer, access, .. } | InstData::Store { pointer, access, .. }
                if access.atomic.is_none() && !access.volatile =>
            {
                self.0[*pointer].unwrap_or_default()
            }
            _ => Origin::Unknown,
        }
    }

    /// Passes on what is known; whether there was something new.
    fn propagate_once(&mut self, function: &Function) -> bool {
        let mut changed = false;
        for &block in &function.layout {
            for &instruction in &function.blocks[block].insts {
                let inst_node = &function.insts[instruction];
                match inst_node.data {
                    InstData::PtrAdd { base: argument, .. }
                    | InstData::Unary { opcode: UnaryOp::SpaceCast | UnaryOp::Freeze, argument, .. } => {
                        changed |= self.learn_origin(inst_node.results[0], self.of_operand(function, argument));
                    }
                    InstData::Ternary { opcode: TernaryOp::Select, arguments: [_, left, right], .. } => {
                        for operand in [left, right] {
                            changed |= self.learn_origin(inst_node.results[0], self.of_operand(function, operand));
                        }
                    }
                    InstData::SlotAddr { .. } | InstData::LocalAddr { .. } | InstData::GlobalAddr { .. } => {
                        changed |= self.learn_origin(inst_node.results[0], Some(Origin::Other));
                    }
                    _ => {
                        for &result in &inst_node.results {
                            changed |= self.learn_origin(result, Some(Origin::Unknown));
                        }
                    }
                }
            }
            for target in function.blocks[block].terminator.targets() {
                for (&parameter, &argument) in function.blocks[target.block].params.iter().zip(&target.arguments) {
                    changed |= self.learn_origin(parameter, self.of_operand(function, argument));
                }
            }
        }
        changed
    }

    /// Joins what is known of an address with one more origin; whether that is something new.
    fn learn_origin(&mut self, address: Value, origin: Option<Origin>) -> bool {
        let Some(origin) = origin else { return false };
        let joined = match self.0[address] {
            Some(known) if known != origin => Origin::Unknown,
            _ => origin,
        };
        self.0[address].replace(joined) != Some(joined)
    }

    /// Constant addresses are those of nothing that is known here.
    fn of_operand(&self, function: &Function, value: Value) -> Option<Origin> {
        if function.const_bits(value).is_some() { Some(Origin::Unknown) } else { self.0[value] }
    }
}
