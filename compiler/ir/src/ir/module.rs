//! A program's kernels and what they share.

use super::collective::Combine;
use super::entities::{Callee, Format, LiveSlot, LocalVar, Region, Slot};
use super::function::Function;
use super::inst::InstData;
use super::opcodes::{AtomicOp, FastMath, UnaryOp};
use super::returned_values::ReturnedValues;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use lockstep_protocol::parameters::{Input, KernelAttrs, Param};
use lockstep_protocol::types::Type;
use lockstep_protocol::variables::{FormatData, Global, GlobalData};
use std::sync::{Arc, OnceLock};

/// One program after import.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Program-scope variables and constant tables.
    pub globals: PrimaryMap<Global, GlobalData>,
    /// The formats of calls of printf.
    pub formats: PrimaryMap<Format, FormatData>,
    /// The functions that are called, each behind those that it calls itself. They have the form of kernels that no launch gives
    /// anything: a call gives their inputs, they have one region without barriers, and ask for nothing that depends on the work-item.
    pub functions: PrimaryMap<Callee, Kernel>,
    /// The kernels in the order of the source.
    pub kernels: Vec<Kernel>,
    /// What is known of what the functions return, from when it was first asked for.
    pub returned_values: OnceLock<Arc<ReturnedValues>>,
}

impl Module {
    /// The functions that a kernel calls, also through others, in their order.
    pub fn functions_called_by(&self, kernel: &Kernel) -> Vec<Callee> {
        self.close_over_calls(kernel.called_functions())
    }

    /// Functions and those that they call, also through others, in their order.
    pub fn close_over_calls(&self, callees: impl IntoIterator<Item = Callee>) -> Vec<Callee> {
        let mut is_called: SecondaryMap<Callee, bool> = SecondaryMap::new();
        callees.into_iter().for_each(|callee| is_called[callee] = true);
        for (caller, function) in self.functions.iter().rev() {
            if is_called[caller] {
                function.called_functions().for_each(|callee| is_called[callee] = true);
            }
        }
        self.functions.keys().filter(|&callee| is_called[callee]).collect()
    }

    /// Whether what an operation of a kernel, or of what it calls, gives may depend on the order in which it is done with others.
    pub fn has_fast_math(&self, kernel: &Kernel) -> bool {
        self.codes_of(kernel).any(Kernel::has_fast_math_itself)
    }

    /// Whether a kernel, or what it calls, has reciprocal roots, which gangs may estimate and work-items alone may not.
    pub fn has_reciprocal_roots(&self, kernel: &Kernel) -> bool {
        self.codes_of(kernel).any(Kernel::has_reciprocal_roots_itself)
    }

    /// Instructions of a kernel and of what it calls.
    pub fn count_instructions(&self, kernel: &Kernel) -> usize {
        self.codes_of(kernel).map(Kernel::count_own_instructions).sum()
    }

    /// Bytes of the private variables of a kernel and of what it calls, for one work-item.
    pub fn count_private_bytes(&self, kernel: &Kernel) -> u64 {
        let slots = self.codes_of(kernel).flat_map(|code| code.slots.values());
        slots.fold(0, |total, slot| total.saturating_add(slot.size))
    }

    /// A kernel and the functions that it calls.
    fn codes_of<'a>(&'a self, kernel: &'a Kernel) -> impl Iterator<Item = &'a Kernel> {
        let functions = self.functions_called_by(kernel).into_iter().map(|callee| &self.functions[callee]);
        std::iter::once(kernel).chain(functions)
    }
}

/// A value kept between regions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LiveData {
    /// What a work-item keeps in it: one scalar of this type.
    pub ty: Type,
    /// Whether all work-items of a group keep the same, so that the group needs one.
    pub shared: bool,
}

/// A `__local` variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalData {
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u32,
    /// Of what it is a copy, if it is one. None before `own_counters`.
    pub counters: Option<Counters>,
}

/// Elements of a buffer to which work-items do one operation: a thread's copy begins with what changes nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counters {
    /// The kernel's input that leads to the buffer.
    pub input: u32,
    /// What work-items do to each element, atomically and relaxed.
    pub opcode: AtomicOp,
    /// The elements' type.
    pub ty: Type,
}

/// A private slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotData {
    /// Bytes of one work-item's copy.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u32,
    /// How the copies of the work-items of a gang lie.
    pub layout: SlotLayout,
}

impl SlotData {
    /// A slot of which each work-item's copy lies by itself.
    pub fn new(size: u64, alignment: u32) -> SlotData {
        SlotData { size, align: alignment, layout: SlotLayout::Apart }
    }
}

/// How the copies of a private slot lie that the work-items of a gang have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SlotLayout {
    /// One after the other.
    Apart,
    /// There is one for all.
    Shared,
    /// Element by element: element `e` of lane `l` is `(e * lanes + l) * element` bytes behind the first. The
    /// address of a lane's slot is that of its element 0.
    Interleaved {
        /// Bytes of an element, a power of two.
        element: u32,
        /// Lanes of a gang, a power of two.
        lanes: u32,
    },
}

/// Where a kernel stands in its source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// The name of the file.
    pub file: String,
    /// The file's folder, as the file's debug information has it.
    pub folder: String,
    /// The line of the kernel's name, from 1.
    pub line: u32,
}

/// A kernel. Before `barriers` it has one region; after, region 0 starts every work-item.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The name that `clCreateKernel` takes.
    pub name: String,
    /// What `clSetKernelArg` sets, in the order of its indices.
    pub params: Vec<Param>,
    /// Bytes of the argument block.
    pub args_size: u32,
    /// What each parameter of each region's entry block holds (the same for all regions).
    pub inputs: Vec<(Input, Type)>,
    /// The types of what a function returns; kernels return nothing.
    pub results: Vec<Type>,
    /// Private slots of a work-item, shared by all regions.
    pub slots: PrimaryMap<Slot, SlotData>,
    /// Local variables of a work-group.
    pub locals: PrimaryMap<LocalVar, LocalData>,
    /// Values kept between regions.
    pub live: PrimaryMap<LiveSlot, LiveData>,
    /// The kernel's code: one function until `barriers` cuts it, then one a region.
    pub regions: PrimaryMap<Region, Function>,
    /// What regions begin with. None before `barriers`.
    pub combines: SecondaryMap<Region, Option<Combine>>,
    /// What the source says of local sizes, sub-group sizes and vector types.
    pub attrs: KernelAttrs,
    /// Where it stands in its source, as far as that is known. The text of the kernel does not say it.
    pub definition: Option<Definition>,
}

impl Kernel {
    /// The code of a kernel that is not cut into regions.
    pub fn body(&self) -> &Function {
        &self.regions[Region::from_u32(0)]
    }

    /// The code of a kernel that is not cut into regions, to change.
    pub fn body_mut(&mut self) -> &mut Function {
        &mut self.regions[Region::from_u32(0)]
    }

    /// The functions that the kernel itself calls, as often as it does.
    pub fn called_functions(&self) -> impl Iterator<Item = Callee> {
        self.regions.values().flat_map(Function::called_functions)
    }

    fn has_fast_math_itself(&self) -> bool {
        let mut insts = self.regions.values().flat_map(|function| function.insts.values());
        insts.any(|inst| inst.data.fast_math() != FastMath::default())
    }

    fn has_reciprocal_roots_itself(&self) -> bool {
        let mut insts = self.regions.values().flat_map(|function| function.insts.values());
        insts.any(|inst| matches!(inst.data, InstData::Unary { opcode: UnaryOp::Rsqrt, .. }))
    }

    fn count_own_instructions(&self) -> usize {
        self.regions.values().map(|function| function.insts.len()).sum()
    }
}
