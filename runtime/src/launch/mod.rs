//! From an NDRange to running groups.
//!
//! A [`CheckedLaunch`] has a range that is right and cut into groups ([`ndrange`]), into other ones where the kernel cannot
//! tell ([`flatten`]). Made ready to run, what holds of the launch ([`facts`]) decides which code it gets. If there is that code, a [`Launch`] record
//! is filled ([`record`]): the arguments as the code reads them ([`block`]), the layout of the scratch memory. The record
//! runs on the cores when its command's turn comes, and is then there for the next launch ([`pool`]). If the code is yet
//! to be made, the command waits for that, and the record is filled when its turn comes ([`late`]).

pub mod block;
mod deferred_launch;
mod facts;
pub mod facts_text;
pub mod float_mode;
pub mod globals;
pub mod ndrange;
pub(crate) mod pool;
pub mod printf;
pub mod record;
mod regroup;

use std::sync::Arc;

use lockstep_protocol::configuration::WIDTHS;
use lockstep_protocol::kernel_abi::ScratchNeeds;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::parameters::{Param, ParamKind};
use opencl_sys::{CL_INVALID_KERNEL_ARGS, CL_OUT_OF_RESOURCES};

use crate::command::Work;
use crate::device::LOCAL_MEMORY;
use crate::event::Event;
use crate::kernel::{Args, Kernel, LOCAL_ALIGN};
use crate::memory::Memory;
use crate::program::executable::Executable;
use crate::program::loaded_variant::LoadedVariant;
use crate::program::lookahead::PredictLaunch;
use crate::{Error, Result, ensure, error, schedule};
use deferred_launch::Late;
use ndrange::{NdRange, Request};
use pool::Pool;
use record::Launch;

/// A launch that is ready to run.
pub struct Prepared {
    /// What its command is to do.
    pub work: Work,
    /// What the command has to wait for beside its wait list: its code is being made.
    pub code: Option<Arc<Event>>,
}

/// A launch whose range has been checked. Its arguments are those that the kernel has when it is made ready to run, which
/// may be any number of times.
#[derive(Clone)]
pub struct CheckedLaunch {
    kernel: Arc<Kernel>,
    /// The range in the groups that the application asked for.
    asked: NdRange,
    /// The range in the groups that are to run.
    range: NdRange,
}

impl CheckedLaunch {
    /// Checks the range of a launch of `kernel`. An empty range gives a launch of no groups.
    ///
    /// # Errors
    /// Those of [`NdRange::new`].
    pub fn new(kernel: Arc<Kernel>, request: &Request) -> Result<Self> {
        let asked = NdRange::new(request, &kernel.launch_rules())
            .map_err(|error| name_kernel(&kernel.outline().name, error))?;
        let range = choose_groups(&kernel, &asked);
        Ok(Self { kernel, asked, range })
    }

    /// The kernel that is launched.
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    /// Makes the launch ready to run.
    ///
    /// # Errors
    /// `CL_INVALID_KERNEL_ARGS` for arguments that are not set or whose objects are gone, and `CL_OUT_OF_RESOURCES` where
    /// memory does not suffice or the kernel cannot be compiled.
    pub fn prepare(&self) -> Result<Prepared> {
        let Self { kernel, asked, range } = self;
        let with_kernel_name = |error| name_kernel(&kernel.outline().name, error);
        let (executable, index) = (kernel.executable(), kernel.index());
        let launch_call = Call { executable, index, pool: &kernel.launches, scratch_limit: kernel.scratch_limit() };
        let mut launch_facts = None;
        let prepared = kernel.with_set_args(|arguments| {
            if range.group_count() > 0 {
                launch_facts = Some(facts::collect_facts(kernel, range, arguments));
            }
            launch_call.prepare_call(kernel, *range, launch_facts.as_ref(), arguments).map_err(with_kernel_name)
        })?;
        if let Some(launch_facts) = launch_facts {
            executable.look_ahead(index, &launch_facts, asked);
        }
        Ok(prepared)
    }

    /// Checks that all arguments are set, and their objects still there.
    ///
    /// # Errors
    /// `CL_INVALID_KERNEL_ARGS` otherwise.
    pub fn check_arguments(&self) -> Result<()> {
        self.kernel.with_set_args(|arguments| argument_objects(arguments).try_for_each(|object| object.map(drop)))
    }
}

/// The range in the groups that are to run: the driver's own where the kernel cannot tell.
fn choose_groups(kernel: &Kernel, asked: &NdRange) -> NdRange {
    if !kernel.executable().may_flatten(kernel.index()) {
        return *asked;
    }
    let (maximum, threads) = (kernel.max_group_size() as u64, schedule::worker_count() as u64);
    regroup::flatten_range(asked, maximum, threads, kernel.outline().order)
}

impl PredictLaunch for Kernel {
    fn predict_facts(&self, asked: &NdRange) -> Option<LaunchFacts> {
        let asked = asked.adapt_to_rules(&self.launch_rules())?;
        facts::predict_facts(self, &choose_groups(self, &asked))
    }
}

/// An error that says which kernel it is about.
fn name_kernel(name: &str, error: Error) -> Error {
    error.with_subject(format_args!("kernel '{name}'"))
}

/// As many bytes as code may be expected to keep of a work-item from barrier to barrier, beside its private memory.
const KEPT: u64 = 1024;

/// The longest rows that code fills up.
const ROW: u64 = WIDTHS[WIDTHS.len() - 1] as u64;

/// What a launch calls, and the bounds that it has to keep to.
struct Call<'a> {
    executable: &'a Arc<Executable>,
    index: usize,
    pool: &'a Arc<Pool>,
    scratch_limit: u64,
}

impl Call<'_> {
    /// Makes a launch ready to run, or finds that its code has to be waited for.
    fn prepare_call(
        &self,
        kernel: &Kernel,
        nd_range: NdRange,
        launch_facts: Option<&LaunchFacts>,
        arguments: &Args,
    ) -> Result<Prepared> {
        let context = kernel.program().context();
        let variant =
            match launch_facts.and_then(|launch_facts| self.executable.lookup(self.index, launch_facts, context)) {
                Some(found) => found?,
                None => {
                    if let Some(&launch_facts) = launch_facts
                        && self.surely_fits(&nd_range, arguments)?
                    {
                        let deferred_launch = Late::new(self, nd_range, launch_facts, arguments)?;
                        let code_event = self.executable.make_soon(self.index, launch_facts, context);
                        return Ok(Prepared { work: Work::Shared(Arc::new(deferred_launch)), code: Some(code_event) });
                    }
                    self.executable.get_or_compile(self.index, launch_facts.copied())?
                }
            };
        Ok(Prepared { work: Work::Shared(self.fill_record(variant, nd_range, arguments)?), code: None })
    }

    /// Whether the scratch memory suffices, whatever the code turns out to need. If it may not, the launch waits for its
    /// code, so that the application learns at once.
    fn surely_fits(&self, nd_range: &NdRange, arguments: &Args) -> Result<bool> {
        let kernel = self.executable.kernel_outline(self.index);
        let local_end = place_locals(&kernel.params, arguments, kernel.local_bytes(), |_, _| {})?;
        let item_bytes = kernel.private_bytes.saturating_add(KEPT);
        let fits = |dim| {
            let scratch_needs = ScratchNeeds { local_bytes: local_end, worker_bytes: KEPT, item_bytes, row: ROW, dim };
            record::scratch_layout(local_end, &scratch_needs, nd_range.local, self.scratch_limit / 2).is_ok()
        };
        Ok((0..3).all(fits))
    }

    /// A record of the launch.
    fn fill_record(&self, variant: Arc<LoadedVariant>, nd_range: NdRange, arguments: &Args) -> Result<Arc<Launch>> {
        let scratch_needs = variant.needs();
        let spare_record = self.pool.take_free();
        let mut launch_record =
            spare_record.unwrap_or_else(|| Arc::new(Launch::new(self.executable.clone(), self.index, variant.clone())));
        let record = Arc::get_mut(&mut launch_record)
            .ok_or_else(|| error!(CL_OUT_OF_RESOURCES, "its launch record is in use"))?;
        record.pool = Some(self.pool.clone());
        record.variant = variant;
        record.range = nd_range;
        record.flush_denormals = self.executable.linked().options.math.denorms_are_zero;
        record.args.copy_from(&arguments.block);
        for object in argument_objects(arguments) {
            record.held.push(object?);
        }
        let parameters = &self.executable.kernel_outline(self.index).params;
        let local_end = place_locals(parameters, arguments, scratch_needs.local_bytes, |parameter, start| {
            record.args.write_at(parameter.offset as usize, &start.to_le_bytes());
        })?;
        let lay_out = |scratch_needs: &ScratchNeeds| {
            record::scratch_layout(local_end, scratch_needs, nd_range.local, self.scratch_limit)
        };
        (record.items_offset, record.scratch) = lay_out(&scratch_needs)?;
        record.usable_forms = record.variant.find_usable_forms(|form_needs| match lay_out(form_needs) {
            Ok((_, scratch_bytes)) => {
                record.scratch = record.scratch.max(scratch_bytes);
                true
            }
            Err(_) => false,
        });
        Ok(launch_record)
    }
}

/// The memory objects that arguments point to.
fn argument_objects(arguments: &Args) -> impl Iterator<Item = Result<Arc<Memory>>> {
    let objects = arguments.buffers.iter().enumerate().filter_map(|(index, object)| Some((index, object.as_ref()?)));
    objects.map(|(index, object)| {
        let released_error =
            || error!(CL_INVALID_KERNEL_ARGS, "the memory object of argument {index} has been released");
        object.upgrade().ok_or_else(released_error)
    })
}

fn local_memory_error(own_bytes: u64, argument_sizes: &[u64]) -> Error {
    error!(
        CL_OUT_OF_RESOURCES,
        "{own_bytes} bytes of local memory and arguments of {argument_sizes:?}; {LOCAL_MEMORY} are allowed"
    )
}

/// Places the `__local` arguments behind the kernel's own `__local` variables, which end at `end`; the end of all.
fn place_locals(
    parameters: &[Param],
    arguments: &Args,
    mut end: u64,
    mut place_argument: impl FnMut(&Param, u64),
) -> Result<u64> {
    let own_bytes = end;
    let too_much = || local_memory_error(own_bytes, &arguments.locals);
    for (parameter, byte_size) in parameters.iter().zip(&arguments.locals) {
        if parameter.kind == ParamKind::Local {
            // The application's sizes may be any.
            let start = end.checked_next_multiple_of(LOCAL_ALIGN).ok_or_else(too_much)?;
            place_argument(parameter, start);
            end = start.checked_add(*byte_size).ok_or_else(too_much)?;
        }
    }
    ensure!(end <= LOCAL_MEMORY, CL_OUT_OF_RESOURCES, "{end} bytes of local memory; {LOCAL_MEMORY} are allowed");
    Ok(end)
}
