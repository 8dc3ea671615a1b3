//! The reference interpreter: what a kernel means, one work-item at a time.
//!
//! Requires: a module that verifies (as imported, or cut into regions).
//! Ensures: every memory access lies in an object, at its alignment, in memory this work-item may
//! touch; all work-items of a group reach the same barriers; or else an error that says where.
//! Linearized kernels run in gangs ([`run_gangs`]): the lanes of a gang execute one instruction after the
//! other together. What has an effect or could fail happens in the active lanes, everything else in all
//! lanes; active lanes that would choose different targets are an error. Planned kernels call functions as their code
//! does ([`run_planned`], [`form_calls`]). Where sub-groups of a kernel that is not
//! linearized do something together, their lanes go on together too, as its control flow brings them together
//! ([`converged`]).
//! Phases: memory objects; then group after group, and in a group phase after phase: each work-item runs
//! until it arrives at a barrier or has finished.
//! Source: OpenCL C 3.0, 6.15.8 (barriers) and 6.7 (address spaces); Moll 2021, 3.6 and
//! chapter 4 (lock-step); LLVM's language reference for the
//! single operations. Poison is some wrapped or saturated number here; undefined behaviour is an error.
//! `fmuladd` rounds once. Fast-math flags change nothing.

use crate::analysis::work_group_dependence::needs_sub_groups;
use crate::ir::Module;
use cranelift_entity::PrimaryMap;
use lockstep_protocol::layout::Layout;
use lockstep_protocol::parameters::ParamKind;

mod call;
mod collective;
mod converged;
mod fault;
mod form_calls;
mod gang;
mod host;
mod item;
mod launch;
mod memory;

pub use fault::{Fault, InterpError};
pub use launch::{Arg, NdRange, Observer, PlannedGangs, PrintfEvent, Report};
pub use memory::Memory;

use gang::Gang;
use item::{Arrival, Group, Item};
use launch::LaunchState;

/// Steps of all work-items together that [`run_kernel`] allows.
pub const STEP_LIMIT: u64 = 200_000_000;

/// Runs a kernel over a range.
pub fn run_kernel(
    module: &Module,
    kernel: &str,
    nd_range: &NdRange,
    arguments: &[Arg],
    memory: &mut Memory,
) -> Result<Report, InterpError> {
    run_limited(module, kernel, nd_range, arguments, memory, STEP_LIMIT)
}

/// Runs a kernel over a range for at most so many steps of all work-items together.
pub fn run_limited(
    module: &Module,
    kernel: &str,
    nd_range: &NdRange,
    arguments: &[Arg],
    memory: &mut Memory,
    step_limit: u64,
) -> Result<Report, InterpError> {
    launch_kernel(module, kernel, nd_range, arguments, memory, (step_limit, None), None)
}

/// How work-items are the lanes of gangs.
#[derive(Clone, Copy)]
struct Lanes<'a> {
    width: usize,
    layout: Layout,
    /// How calls are made. Without it, functions are called for each lane.
    planned: Option<PlannedGangs<'a>>,
}

/// Runs a kernel over a range under observation, for at most so many steps of all work-items together.
pub fn run_observed(
    module: &Module,
    kernel: &str,
    nd_range: &NdRange,
    arguments: &[Arg],
    memory: &mut Memory,
    step_limit: u64,
    observer: &mut dyn Observer,
) -> Result<Report, InterpError> {
    launch_kernel(module, kernel, nd_range, arguments, memory, (step_limit, None), Some(observer))
}

/// Runs a linearized kernel in gangs of `gang_width` work-items, in lock-step, for at most so many steps of all gangs
/// together.
pub fn run_gangs(
    module: &Module,
    kernel: &str,
    nd_range: &NdRange,
    arguments: &[Arg],
    memory: &mut Memory,
    step_limit: u64,
    (gang_width, layout): (usize, Layout),
) -> Result<Report, InterpError> {
    let lanes = Lanes { width: gang_width.max(1), layout, planned: None };
    launch_kernel(module, kernel, nd_range, arguments, memory, (step_limit, Some(lanes)), None)
}

/// As [`run_gangs`], in the gangs that are planned; functions are called by their forms.
pub fn run_planned(
    module: &Module,
    kernel: &str,
    nd_range: &NdRange,
    arguments: &[Arg],
    memory: &mut Memory,
    step_limit: u64,
    planned: PlannedGangs<'_>,
) -> Result<Report, InterpError> {
    let lanes = Lanes { width: planned.gang_width, layout: planned.widening.layout, planned: Some(planned) };
    launch_kernel(module, kernel, nd_range, arguments, memory, (step_limit, Some(lanes)), None)
}

/// Runs for at most so many steps, in gangs of some width if there is one.
fn launch_kernel<'a>(
    module: &'a Module,
    kernel: &str,
    nd_range: &'a NdRange,
    arguments: &[Arg],
    memory: &mut Memory,
    (step_limit, lanes): (u64, Option<Lanes<'a>>),
    observer: Option<&'a mut (dyn Observer + 'a)>,
) -> Result<Report, InterpError> {
    let Some(kernel) = module.kernels.iter().find(|candidate| candidate.name == kernel) else {
        return Err(Fault::BadLaunch(format!("there is no kernel {kernel:?}")).into());
    };
    let bad_range = nd_range.local_size.contains(&0) || !(1..=3).contains(&nd_range.work_dim);
    if bad_range {
        return Err(Fault::BadLaunch("the range has empty groups or no dimensions".to_string()).into());
    }
    memory.begin_launch(module)?;
    let mut block = vec![0; kernel.args_size as usize];
    if arguments.len() != kernel.params.len() {
        let message = format!("{} arguments for {} parameters", arguments.len(), kernel.params.len());
        return Err(Fault::BadLaunch(message).into());
    }
    let mut local_args = Vec::new();
    for (position, (parameter, argument)) in kernel.params.iter().zip(arguments).enumerate() {
        let bytes = match (parameter.kind, argument) {
            (ParamKind::Local, Arg::Local(size)) => {
                local_args.push((position, *size));
                vec![0; 8]
            }
            (ParamKind::Local, _) | (_, Arg::Local(_)) => Vec::new(),
            (_, Arg::Value(bytes)) => bytes.clone(),
            (_, Arg::Null) => vec![0; 8],
            (_, Arg::Buffer(index)) => memory.buffer_address(*index)?.to_le_bytes().to_vec(),
        };
        let start = parameter.offset as usize;
        match block.get_mut(start..start + parameter.size as usize) {
            Some(place) if place.len() == bytes.len() => place.copy_from_slice(&bytes),
            _ => return Err(Fault::BadLaunch(format!("argument {position} does not fit its parameter")).into()),
        }
    }
    let converge = lanes.is_none() && needs_sub_groups(kernel);
    let orders =
        if converge { kernel.regions.values().map(converged::compute_order).collect() } else { PrimaryMap::new() };
    let of_sub_group =
        || Lanes { width: kernel.attrs.sub_group_size() as usize, layout: Layout::Linear, planned: None };
    let lanes = if converge { Some(of_sub_group()) } else { lanes };
    let report = Report::default();
    let mut launch_state = LaunchState {
        module,
        kernel,
        range: nd_range,
        width: lanes.map(|lanes| lanes.width),
        layout: lanes.map_or(Layout::X, |lanes| lanes.layout),
        planned: lanes.and_then(|lanes| lanes.planned),
        orders,
        step_limit,
        clock: 0,
        report,
        observer,
    };
    let groups = nd_range.num_groups();
    for z in 0..groups[2] {
        for y in 0..groups[1] {
            for x in 0..groups[0] {
                launch_state.run_group([x, y, z], &block, &local_args, memory)?;
            }
        }
    }
    Ok(launch_state.report)
}

impl LaunchState<'_> {
    fn run_group(
        &mut self,
        group_id: [u64; 3],
        arguments: &[u8],
        local_args: &[(usize, u64)],
        memory: &mut Memory,
    ) -> Result<(), InterpError> {
        let nd_range = self.range;
        let group_size: [u64; 3] = std::array::from_fn(|dimension| {
            nd_range.local_size[dimension]
                .min(nd_range.global_size[dimension] - group_id[dimension] * nd_range.local_size[dimension])
        });
        let group = Group::new(self.kernel, group_id, group_size, arguments, local_args, memory)?;
        let mut gangs = Vec::new();
        let [innermost, middle, outer] = self.layout.loop_order();
        let mut group_id = [0; 3];
        for k in 0..group_size[outer] {
            for j in 0..group_size[middle] {
                for i in 0..group_size[innermost] {
                    (group_id[innermost], group_id[middle], group_id[outer]) = (i, j, k);
                    let number = group_id[0] + group_size[0] * (group_id[1] + group_size[1] * group_id[2]);
                    let lane_number = if self.layout.crosses_rows() { number } else { i };
                    let gang = gangs.last_mut().filter(|_| lane_number % self.width.unwrap_or(1) as u64 != 0);
                    let first = gang.as_ref().map(|gang: &&mut Gang| &gang.lanes[0]);
                    let work_item = Item::new(self, &group, group_id, number as u32, first, memory)?;
                    match gang {
                        Some(gang) => gang.lanes.push(work_item),
                        None => gangs.push(Gang { lanes: vec![work_item], width: self.width.unwrap_or(1) }),
                    }
                }
            }
        }
        loop {
            let mut first_arrival: Option<(Arrival, [u64; 3])> = None;
            for gang in &mut gangs {
                let arrival = match self.width {
                    Some(_) if !self.orders.is_empty() => gang.run_converged(self, &group, memory)?,
                    Some(_) => gang.run_until_barrier(self, &group, memory)?,
                    None => gang.lanes[0].run_until_barrier(self, &group, memory)?,
                };
                match &first_arrival {
                    None => first_arrival = Some((arrival, gang.lanes[0].global_id)),
                    Some((other, other_id)) if *other != arrival => {
                        let message = format!("this one {arrival}, work-item {other_id:?} {other}");
                        return Err(gang.lanes[0].error_at(self, Fault::DivergentBarrier(message)));
                    }
                    Some(_) => {}
                }
            }
            match first_arrival {
                Some((arrival @ (Arrival::Barrier(..) | Arrival::Region(_)), _)) => {
                    self.compare_shared(&gangs)?;
                    collective::answer_collective(self.kernel, arrival, &mut gangs)?;
                }
                Some((Arrival::End, _)) | None => break,
            }
        }
        self.report.steps.extend(gangs.iter().flat_map(|gang| &gang.lanes).map(|work_item| work_item.steps));
        memory.end_group();
        Ok(())
    }

    /// What a group keeps once is the same for all its work-items.
    fn compare_shared(&self, gangs: &[Gang]) -> Result<(), InterpError> {
        let mut items = gangs.iter().flat_map(|gang| &gang.lanes);
        let Some(first_item) = items.next() else { return Ok(()) };
        for (slot, _) in self.kernel.live.iter().filter(|(_, live_data)| live_data.shared) {
            if let Some(other_item) =
                items.clone().find(|work_item| work_item.kept_value(slot) != first_item.kept_value(slot))
            {
                return Err(
                    other_item.error_at(self, Fault::Undefined(format!("work-items keep different values in {slot}")))
                );
            }
        }
        Ok(())
    }
}
