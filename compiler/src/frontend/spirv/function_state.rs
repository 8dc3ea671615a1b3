//! What is known of the function that is translated, and what of it is still to be written.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::fmt;

use super::dominance::Use;
use super::error::Place;
use super::ids::{Id, IdMap, IdSet};
use super::values::{ValueNumber, ValueText};

/// What is known of the function whose instructions are read.
pub(super) struct FunctionState {
    pub id: Id,
    /// Whether only its first block was begun, or none.
    pub is_first_block: bool,
    /// The number of the next value.
    pub next_number: u32,
    pub result: Id,
    /// Parameters that are still to come, with their types.
    pub parameters: Vec<Id>,
    /// The block that was begun and not ended.
    pub block: Option<Id>,
    pub first_label: Option<Id>,
    pub has_body: bool,
    /// The labels of the blocks so far.
    pub labels: IdSet,
    /// How often a block jumps to another, by both labels. A hostile module may have a million pairs, so that their hash is one that
    /// cannot be foreseen.
    pub edges: HashMap<(Id, Id), u32>,
    /// How many jumps lead to a block, by its label.
    pub arrivals: IdMap<usize>,
    /// What is written when the function ends, in its order.
    pub late_texts: Vec<LateText>,
    /// Variables that tell the work-item of itself and whose addresses are used.
    pub built_in_addresses: RefCell<BTreeSet<BuiltInAddress>>,
    /// Lines for the function's entry.
    pub entry_lines: String,
    pub arrays: VariableLengthArrays,
    /// The nodes that say what is wanted of loops, by their headers.
    pub wanted_of_loops: IdMap<usize>,
    /// The same of the loop that the next jump leads back to.
    pub wanted_of_jump: Option<usize>,
    /// Uses of values of other blocks, in their order. Operands are found while other operands are still borrowed.
    pub uses: RefCell<Vec<Use>>,
}

impl FunctionState {
    /// The number for the next value.
    pub fn take_number(&mut self) -> ValueNumber {
        let number = ValueNumber(self.next_number);
        self.next_number += 1;
        number
    }

    /// Notes that the address of a variable is used which tells the work-item of itself.
    pub fn note_built_in_address(&self, address: BuiltInAddress) {
        self.built_in_addresses.borrow_mut().insert(address);
    }

    /// The addresses that were noted, each once, in an order that is the same each time.
    pub fn take_built_in_addresses(&self) -> BTreeSet<BuiltInAddress> {
        self.built_in_addresses.take()
    }

    /// Notes the use of a value, to be judged when all jumps are known.
    pub fn note_use(&self, use_of_value: Use) {
        if use_of_value.definition != use_of_value.block {
            self.uses.borrow_mut().push(use_of_value);
        }
    }
}

/// Text that belongs to an earlier place of the function.
pub(super) struct LateText {
    /// Where it belongs in the function's text.
    pub position: usize,
    pub content: LateContent,
}

/// What it is made of.
pub(super) enum LateContent {
    Phi(Phi),
    /// The memory of variables that tell the work-item of itself.
    Entry,
    /// Instructions that may turn out not to be needed.
    Lines {
        lines: String,
        is_used: Cell<bool>,
    },
}

impl LateText {
    /// Lines that are written at this place if they are used.
    pub fn of_lines(position: usize, lines: String) -> LateText {
        LateText { position, content: LateContent::Lines { lines, is_used: Cell::new(false) } }
    }

    /// The place behind the label of a function's first block.
    pub fn of_entry(position: usize) -> LateText {
        LateText { position, content: LateContent::Entry }
    }

    /// Notes that the lines are used.
    pub fn note_use(&self) {
        if let LateContent::Lines { is_used, .. } = &self.content {
            is_used.set(true);
        }
    }
}

/// A phi that is to be written.
pub(super) struct Phi {
    /// The instruction in the module.
    pub place: Place,
    pub id: Id,
    pub value: ValueText,
    pub value_type: Id,
    /// The block that it begins.
    pub block: Id,
    /// Values and the blocks that they come from.
    pub incoming: Vec<[Id; 2]>,
}

/// A variable whose address is used, or the component that it is the address of. It is written as its name in LLVM's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BuiltInAddress {
    /// The number of the variable in the specification.
    pub built_in: u32,
    /// The type of what the variable holds.
    pub content: Id,
    pub component: Option<u32>,
}

impl fmt::Display for BuiltInAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "%builtin.{}.{}", self.built_in, self.content)?;
        self.component.map_or(Ok(()), |component| write!(formatter, ".at{component}"))
    }
}

/// The arrays of variable length of a function.
#[derive(Default)]
pub(super) struct VariableLengthArrays {
    /// Those of known length in other blocks than the first.
    pub late: Vec<LateArray>,
    /// Whether some share memory, or how much of it is taken is asked for.
    pub is_shared: bool,
    /// How the shared memory is aligned.
    pub alignment: u64,
    /// Bytes of the arrays of known length that share memory.
    pub known_bytes: u64,
}

/// An array of known length in another block than the first.
pub(super) struct LateArray {
    pub block: Id,
    /// Which late text of the function takes its part of the shared memory.
    pub late_index: usize,
    /// The line that makes it a variable of the function.
    pub variable: String,
    pub bytes: u64,
    pub alignment: u64,
}

impl VariableLengthArrays {
    /// Has memory to share that is as aligned as this.
    pub fn share_memory(&mut self, alignment: u64) {
        self.is_shared = true;
        self.alignment = self.alignment.max(alignment);
    }

    /// Has room for an array of known length.
    pub fn add_known_bytes(&mut self, bytes: u64) {
        self.known_bytes = self.known_bytes.saturating_add(bytes);
    }
}
