//! A program's kernels and what they share.

use super::collective::Combine;
use super::entities::{Format, Global, LiveSlot, LocalVar, Region, Slot};
use super::function::Function;
use super::opcodes::AtomicOp;
use super::types::{Space, Type};
use crate::layout::DEFAULT_SUB_GROUP;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use serde::{Deserialize, Serialize};

/// One program after import.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Program-scope variables and constant tables.
    pub globals: PrimaryMap<Global, GlobalData>,
    /// printf formats.
    pub formats: PrimaryMap<Format, FormatData>,
    /// The kernels in the order of the source.
    pub kernels: Vec<Kernel>,
}

/// A value kept between regions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LiveData {
    /// Its type.
    pub ty: Type,
    /// Whether all work-items of a group keep the same, so that the group needs one.
    pub shared: bool,
}

/// A program-scope variable.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GlobalData {
    /// Its name in the source (for people).
    pub name: String,
    /// `Global` or `Constant`.
    pub space: Space,
    /// Alignment in bytes.
    pub align: u32,
    /// Initial contents; their length is the variable's size.
    #[serde(with = "serde_bytes")]
    pub init: Vec<u8>,
    /// Addresses of other variables inside `init`: byte offset, target, addend.
    pub relocs: Vec<(u64, Global, i64)>,
    /// Whether nothing ever writes to it, so that it may stand in code.
    pub constant: bool,
}

/// A printf call's format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FormatData {
    /// The format string without its terminating zero.
    pub text: Vec<u8>,
    /// Per argument: element type and vector length (1 for scalars). A vector takes as many operands as
    /// it has elements. `%s` arguments are `Ptr(Constant)`.
    pub args: Vec<(Type, u8)>,
}

/// Bytes of the record that stands for an image in the argument block.
pub const IMAGE_BYTES: usize = 96;

/// What an argument is, as clSetKernelArg and clGetKernelArgInfo see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ParamKind {
    /// Passed by value: scalars, vectors, structs.
    Value,
    /// A buffer in global or constant memory.
    Pointer(Space),
    /// `__local` memory whose size clSetKernelArg gives.
    Local,
    /// An image.
    Image,
    /// A sampler.
    Sampler,
}

/// A kernel parameter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Param {
    /// Its name, if the front end kept it.
    pub name: String,
    /// Its type as written, if the front end kept it.
    pub type_name: String,
    /// What it is.
    pub kind: ParamKind,
    /// Bytes that clSetKernelArg takes for it (for `Local`, pointer size).
    pub size: u32,
    /// Alignment in the argument block; for `Local`, of the memory pointed to.
    pub align: u32,
    /// Byte offset in the argument block.
    pub offset: u32,
    /// CL_KERNEL_ARG_ACCESS_QUALIFIER's spelling (`none`, `read_only`, …).
    pub access: String,
    /// Type qualifiers as written, space separated (`const`, `restrict`, `volatile`, `pipe`).
    pub qualifiers: String,
    /// Whether nothing is written through this pointer; another one may still point to the same memory.
    pub readonly: bool,
    /// Whether nothing else in the kernel points to the same memory.
    pub restrict: bool,
}

impl Param {
    /// Whether it is a pipe: a pointer to what the built-in library works on.
    pub fn is_pipe(&self) -> bool {
        self.qualifiers.split(' ').any(|qualifier| qualifier == "pipe")
    }
}

/// Where an entry-block parameter's value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Input {
    /// The bytes of the argument block at a parameter's offset plus `offset`.
    Value {
        /// Index of the parameter.
        param: u32,
        /// Byte offset within it (elements of a vector).
        offset: u32,
    },
    /// The address of a parameter's bytes in the argument block (structs by value); only read.
    Address {
        /// Index of the parameter.
        param: u32,
    },
}

/// A `__local` variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LocalData {
    /// Bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u32,
    /// Of what it is a copy, if it is one. None before `own_counters`.
    #[serde(skip)]
    pub counters: Option<Counters>,
}

/// Elements of a buffer to which work-items do one operation: a thread's copy begins with what changes nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counters {
    /// The kernel's input that leads to the buffer.
    pub input: u32,
    /// What work-items do to each element, atomically and relaxed.
    pub op: AtomicOp,
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
    pub fn new(size: u64, align: u32) -> SlotData {
        SlotData { size, align, layout: SlotLayout::Apart }
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

/// Attributes that bind or advise.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct KernelAttrs {
    /// `reqd_work_group_size`.
    pub reqd_work_group_size: Option<[u32; 3]>,
    /// `work_group_size_hint`.
    pub work_group_size_hint: Option<[u32; 3]>,
    /// `vec_type_hint` as written.
    pub vec_type_hint: Option<String>,
    /// `intel_reqd_sub_group_size`: the work-items of a sub-group.
    pub reqd_sub_group_size: Option<u32>,
    /// Every attribute as CL_KERNEL_ATTRIBUTES spells it, space separated.
    pub text: String,
}

impl KernelAttrs {
    /// The work-items of a full sub-group of the kernel.
    pub fn sub_group_size(&self) -> u32 {
        self.reqd_sub_group_size.unwrap_or(DEFAULT_SUB_GROUP)
    }
}

/// A kernel. Before `barriers` it has one region; after, region 0 starts every work-item.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Bytes of the argument block.
    pub args_size: u32,
    /// What each parameter of each region's entry block holds (the same for all regions).
    pub inputs: Vec<(Input, Type)>,
    /// Private slots of a work-item, shared by all regions.
    pub slots: PrimaryMap<Slot, SlotData>,
    /// Local variables of a work-group.
    pub locals: PrimaryMap<LocalVar, LocalData>,
    /// Values kept between regions.
    pub live: PrimaryMap<LiveSlot, LiveData>,
    /// The code.
    pub regions: PrimaryMap<Region, Function>,
    /// What regions begin with. None before `barriers`.
    pub combines: SecondaryMap<Region, Option<Combine>>,
    /// Attributes.
    pub attrs: KernelAttrs,
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
}
