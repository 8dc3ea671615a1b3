//! Samplers (OpenCL API, 5.7).

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::context::Context;
use lockstep_runtime::sampler::Sampler;
use lockstep_runtime::{ApiHandle, Result, device, ensure};
use opencl_sys::{
    CL_ADDRESS_CLAMP, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_NONE, CL_ADDRESS_REPEAT, CL_FALSE, CL_FILTER_LINEAR,
    CL_FILTER_NEAREST, CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_CONTEXT,
    CL_SAMPLER_FILTER_MODE, CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_PROPERTIES, CL_SAMPLER_REFERENCE_COUNT, CL_TRUE,
    cl_addressing_mode, cl_bool, cl_context, cl_filter_mode, cl_sampler, cl_sampler_info, cl_sampler_properties,
};

use crate::info::{self, Info};
use crate::{handle, property_list};

/// "CL_INVALID_OPERATION if images are not supported by any device associated with context".
fn check_support() -> Result<()> {
    ensure!(device::has_images(), CL_INVALID_OPERATION, "no device of the context supports images");
    Ok(())
}

/// Creates a sampler whose values have been read.
///
/// "CL_INVALID_VALUE if addressing_mode, filter_mode, normalized_coords or a combination of these arguments are not
/// valid": coordinates that repeat are normalized ones.
fn create(
    context: Arc<Context>,
    values: [cl_sampler_properties; 3],
    properties: Vec<cl_sampler_properties>,
) -> Result<*mut c_void> {
    check_support()?;
    let [normalized, addressing, filter] = values.map(|value| u32::try_from(value).unwrap_or(u32::MAX));
    ensure!(
        normalized == CL_TRUE || normalized == CL_FALSE,
        CL_INVALID_VALUE,
        "normalized_coords is {:#x}; CL_TRUE or CL_FALSE is allowed",
        values[0]
    );
    ensure!(
        (CL_ADDRESS_NONE..=CL_ADDRESS_MIRRORED_REPEAT).contains(&addressing),
        CL_INVALID_VALUE,
        "addressing_mode is {:#x}; {CL_ADDRESS_NONE:#x} to {CL_ADDRESS_MIRRORED_REPEAT:#x} are allowed",
        values[1]
    );
    ensure!(
        filter == CL_FILTER_NEAREST || filter == CL_FILTER_LINEAR,
        CL_INVALID_VALUE,
        "filter_mode is {:#x}; CL_FILTER_NEAREST or CL_FILTER_LINEAR is allowed",
        values[2]
    );
    let repeats = matches!(addressing, CL_ADDRESS_REPEAT | CL_ADDRESS_MIRRORED_REPEAT);
    ensure!(
        normalized == CL_TRUE || !repeats,
        CL_INVALID_VALUE,
        "addressing_mode is {addressing:#x}, which repeats, for coordinates that are not normalized"
    );
    let normalized = normalized == CL_TRUE;
    let api = ApiHandle::default();
    handle::publish(Arc::new(Sampler { context, normalized, addressing, filter, properties, api }))
}

/// `clCreateSampler`: makes a sampler of three values.
#[entry_point(clCreateSampler)]
pub fn create_sampler(
    context: cl_context,
    normalized_coords: cl_bool,
    addressing_mode: cl_addressing_mode,
    filter_mode: cl_filter_mode,
) -> Result<cl_sampler> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    let context = handle::get::<Context>(context)?;
    create(context, [normalized_coords, addressing_mode, filter_mode].map(u64::from), Vec::new())
}

/// `clCreateSamplerWithProperties`: makes a sampler of a list of properties.
#[entry_point(clCreateSamplerWithProperties)]
pub unsafe fn create_sampler_with_properties(
    context: cl_context,
    sampler_properties: *const cl_sampler_properties,
) -> Result<cl_sampler> {
    let context = handle::get::<Context>(context)?;
    check_support()?;
    const NAMES: [cl_sampler_info; 3] =
        [CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE];
    // "The default [...] is CL_TRUE", "CL_ADDRESS_CLAMP", "CL_FILTER_NEAREST".
    let mut values = [CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST].map(u64::from);
    // "CL_INVALID_VALUE if the property name in sampler_properties is not a supported property name, if the value
    // specified for a supported property name is not valid, or if the same property name is specified more than once."
    let take = |name, value| {
        match NAMES.iter().position(|&known| u64::from(known) == name) {
            Some(which) => values[which] = value,
            None => return property_list::unknown(CL_INVALID_VALUE, name),
        }
        Ok(())
    };
    // SAFETY: the caller vouches for a list that ends in 0.
    let list = unsafe { property_list::read(sampler_properties, CL_INVALID_VALUE, take)? };
    create(context, values, list)
}

/// `clRetainSampler`: "CL_INVALID_SAMPLER if sampler is not a valid sampler object."
#[entry_point(clRetainSampler)]
pub fn retain_sampler(sampler: cl_sampler) -> Result<()> {
    handle::retain::<Sampler>(sampler)
}

/// `clReleaseSampler`: "CL_INVALID_SAMPLER if sampler is not a valid sampler object."
#[entry_point(clReleaseSampler)]
pub fn release_sampler(sampler: cl_sampler) -> Result<()> {
    handle::release::<Sampler>(sampler)
}

/// `clGetSamplerInfo`: answers questions about a sampler.
#[entry_point(clGetSamplerInfo)]
pub unsafe fn get_sampler_info(
    sampler: cl_sampler,
    param_name: cl_sampler_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    let sampler = handle::get::<Sampler>(sampler)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_SAMPLER_REFERENCE_COUNT => info.value(handle::references(&sampler)),
        CL_SAMPLER_CONTEXT => info.value(handle::of(&sampler.context)),
        CL_SAMPLER_NORMALIZED_COORDS => info.bool(sampler.normalized),
        CL_SAMPLER_ADDRESSING_MODE => info.value(sampler.addressing),
        CL_SAMPLER_FILTER_MODE => info.value(sampler.filter),
        CL_SAMPLER_PROPERTIES => info.slice(&sampler.properties),
        // "CL_INVALID_VALUE if param_name is not valid".
        _ => info::unknown(param_name),
    }
}
