//! Samplers: how coordinates become elements.

use std::sync::Arc;

use opencl_sys::{
    CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR,
    cl_addressing_mode, cl_filter_mode, cl_sampler_properties,
};

use crate::ApiHandle;
use crate::context::Context;

/// A sampler: how images are read.
#[derive(Debug)]
pub struct Sampler {
    /// The context it belongs to.
    pub context: Arc<Context>,
    /// Whether coordinates go from 0 to 1 over an image.
    pub normalized: bool,
    /// What coordinates outside an image mean.
    pub addressing: cl_addressing_mode,
    /// Whether neighbours are mixed.
    pub filter: cl_filter_mode,
    /// The property list it was made with, with its terminating 0; empty when there was none.
    pub properties: Vec<cl_sampler_properties>,
    /// The word of the API layer.
    pub api: ApiHandle,
}

impl Sampler {
    /// The sampler as kernels know it: the bits of OpenCL C's `CLK_` constants.
    pub fn bits(&self) -> u32 {
        let addressing = match self.addressing {
            CL_ADDRESS_CLAMP_TO_EDGE => 2,
            CL_ADDRESS_CLAMP => 4,
            CL_ADDRESS_REPEAT => 6,
            CL_ADDRESS_MIRRORED_REPEAT => 8,
            _ => 0,
        };
        let filter = if self.filter == CL_FILTER_LINEAR { 0x20 } else { 0x10 };
        u32::from(self.normalized) | addressing | filter
    }
}
