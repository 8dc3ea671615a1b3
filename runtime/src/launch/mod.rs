//! From an NDRange to running groups.
//!
//! [`prepare`] checks a launch and fills a [`Launch`] record: the range cut into groups ([`ndrange`]), into
//! other ones where the kernel cannot tell ([`flatten`]), the arguments as the code reads them ([`block`]), the code that relies on what holds of the launch
//! ([`facts`]), the layout of the scratch memory. The record runs on
//! the cores when its command's turn comes ([`record`]), and is then there for the next launch ([`pool`]).

pub mod block;
mod facts;
mod flatten;
pub mod float_mode;
pub mod globals;
pub mod ndrange;
pub(crate) mod pool;
pub mod printf;
pub mod record;

use std::sync::Arc;

use lockstep_compiler::ir::ParamKind;
use opencl_sys::{CL_INVALID_KERNEL_ARGS, CL_OUT_OF_RESOURCES};

use crate::device::LOCAL_MEMORY;
use crate::kernel::{Kernel, LOCAL_ALIGN};
use crate::{Error, Result, schedule};
use ndrange::{NdRange, Request};
use record::Launch;

/// Checks a launch of `kernel` and makes it ready to run. An empty range gives a launch of no groups.
pub fn prepare(kernel: &Kernel, request: &Request) -> Result<Arc<Launch>> {
    let asked = NdRange::new(request, &kernel.rules())?;
    let range = match kernel.executable().flattens(kernel.index()) {
        true => {
            let (most, threads) = (kernel.max_group_size() as u64, schedule::workers() as u64);
            flatten::flattened(&asked, most, threads, kernel.outline().transposes)
        }
        false => asked,
    };
    kernel.with_set_args(|args| {
        let facts = (range.group_count() > 0).then(|| facts::of(kernel, &range, &args.block));
        let variant = kernel.executable().variant(kernel.index(), facts)?;
        let needs = variant.needs();
        let spare = kernel.launches.take();
        let mut launch = spare.unwrap_or_else(|| Arc::new(Launch::new(kernel.executable().clone(), variant.clone())));
        let record = Arc::get_mut(&mut launch).ok_or(Error::new(CL_OUT_OF_RESOURCES))?;
        record.pool = Some(kernel.launches.clone());
        record.variant = variant;
        record.range = range;
        record.flush_denormals = kernel.executable().linked().options.math.denorms_are_zero;
        record.args.copy_from(&args.block);
        let mut local_end = needs.local_bytes;
        let held = &mut record.held;
        for (index, param) in kernel.outline().params.iter().enumerate() {
            match param.kind {
                ParamKind::Pointer(_) | ParamKind::Image => {
                    if let Some(object) = &args.buffers[index] {
                        let object = object.upgrade();
                        held.push(object.ok_or(Error::new(CL_INVALID_KERNEL_ARGS))?);
                    }
                }
                ParamKind::Local => {
                    // The application's sizes may be any.
                    let start = local_end.checked_next_multiple_of(LOCAL_ALIGN);
                    let end = start.and_then(|start| start.checked_add(args.locals[index]));
                    let (Some(start), Some(end)) = (start, end) else { return Err(too_much_local_memory()) };
                    record.args.write(param.offset as usize, &start.to_le_bytes());
                    local_end = end;
                }
                ParamKind::Value | ParamKind::Sampler => {}
            }
        }
        if local_end > LOCAL_MEMORY {
            return Err(too_much_local_memory());
        }
        (record.items_offset, record.scratch) =
            record::scratch(local_end, &needs, range.local, kernel.scratch_limit())?;
        Ok(launch)
    })
}

fn too_much_local_memory() -> Error {
    Error::new(CL_OUT_OF_RESOURCES).because("more local memory than CL_DEVICE_LOCAL_MEM_SIZE")
}
