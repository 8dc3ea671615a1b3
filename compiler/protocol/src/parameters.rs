//! A kernel's parameters and attributes: what clSetKernelArg, clGetKernelArgInfo and clGetKernelWorkGroupInfo ask for, and
//! where arguments lie in the block that code reads them from.

use crate::layout::DEFAULT_SUB_GROUP;
use crate::types::Space;
use serde::{Deserialize, Serialize};

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
    /// An image of any type, by its record of [`IMAGE_BYTES`].
    Image,
    /// A sampler, by the bits of its `CLK_` constants.
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

    /// Whether it is the address of something that the source declares as constant.
    pub fn is_only_read(&self) -> bool {
        let is_const = self.qualifiers.split(' ').any(|qualifier| qualifier == "const");
        is_const || matches!(self.kind, ParamKind::Pointer(Space::Constant))
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
    /// What a call of the function passes at this position: functions have these inputs alone, kernels none.
    Passed {
        /// Position among the call's arguments.
        position: u32,
    },
    /// The address of a parameter's bytes in the argument block (structs by value); only read.
    Address {
        /// Index of the parameter.
        param: u32,
    },
}

/// Attributes that bind or advise.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct KernelAttrs {
    /// The size that every group has to have (`reqd_work_group_size`).
    pub reqd_work_group_size: Option<[u32; 3]>,
    /// The size that groups will likely have (`work_group_size_hint`).
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
