//! Compiled kernels that run in memory between pages that stop the program where code touches them.

mod object;
mod watch;

pub use object::Side;

use lockstep_compiler::pipeline::{Compiled, compile_kernel_by};
use lockstep_ir::interp::{Arg, Fault, Memory, NdRange, PrintfEvent, Report};
use lockstep_ir::ir::{Format, Kernel, Module};
use lockstep_ir::plan::passes::{PASSES, Pass};
use lockstep_protocol::compile_options::CompileOptions;
use lockstep_protocol::kernel_abi::LaunchFrame;
use lockstep_protocol::loop_profile::{LoopCounters, MOST_COUNTED_LOOPS};
use lockstep_protocol::parameters::ParamKind;
use lockstep_protocol::types::Type;
use lockstep_runtime::execute::coroutines::give_up;
use lockstep_runtime::execute::giving_up::run_until_given_up;
use lockstep_runtime::execute::loaded_code::LoadedCode;
use object::{Object, UNWRITTEN};
use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use watch::watched;

/// Groups per call of the code: few, so that chunks begin and end in the middle of rows.
const CHUNK: u64 = 3;

struct Printer<'a> {
    module: &'a Module,
    events: RefCell<Vec<PrintfEvent>>,
    /// The text of the failure that the launch ended with, as the interpreter spells it.
    failure: RefCell<Option<String>>,
    has_failed: AtomicBool,
}

unsafe extern "C" fn print(context: *const c_void, format: u32, packed: *const u64) -> i32 {
    // SAFETY: `run` passes a `Printer` that outlives the call; a call packs what its format says.
    unsafe {
        let printer = &*context.cast::<Printer>();
        let format = Format::from_u32(format);
        if printer.module.formats[format].is_failure {
            let text = String::from_utf8_lossy(&printer.module.formats[format].text).into_owned();
            printer.failure.borrow_mut().get_or_insert(Fault::LaunchFailure(text).to_string());
            printer.has_failed.store(true, Ordering::Relaxed);
            // All that this function has borrowed, it has given back.
            give_up();
            return 0;
        }
        let types = printer.module.formats[format].args.iter();
        let types = types.flat_map(|&(ty, count)| std::iter::repeat_n(ty, count.into()));
        let bits = |(index, ty)| {
            let packed = *packed.add(index);
            match ty {
                Type::F32 => u128::from((f64::from_bits(packed) as f32).to_bits()),
                Type::F16 => u128::from(half::f16::from_f64(f64::from_bits(packed)).to_bits()),
                _ => u128::from(packed),
            }
        };
        let arguments = types.enumerate().map(bits).collect();
        printer.events.borrow_mut().push(PrintfEvent { format, args: arguments, global_id: [0; 3] });
    }
    0
}

/// A compiled kernel, ready to run.
pub struct Code<'m> {
    module: &'m Module,
    kernel: &'m Kernel,
    pub compiled: Compiled,
    loaded: LoadedCode,
    /// What it counts if it was compiled to count.
    pub loop_counters: [LoopCounters; MOST_COUNTED_LOOPS],
}

impl<'m> Code<'m> {
    pub fn compile(module: &'m Module, kernel: &str, options: &CompileOptions) -> Result<Code<'m>, String> {
        Code::compile_by(PASSES, module, kernel, options)
    }

    /// The same with the passes of a table.
    pub fn compile_by(
        table: &[Pass],
        module: &'m Module,
        kernel: &str,
        options: &CompileOptions,
    ) -> Result<Code<'m>, String> {
        let index = module.kernels.iter().position(|k| k.name == kernel).ok_or("no such kernel")?;
        let compiled = compile_kernel_by(table, module, index, options).map_err(|error| error.to_string())?;
        let loaded = LoadedCode::map_object(&compiled.object).map_err(|error| error.to_string())?;
        Ok(Code { module, kernel: &module.kernels[index], compiled, loaded, loop_counters: Default::default() })
    }

    /// Runs it over a range, with all objects at this side of the memory around them. The name is for what
    /// the machine stops.
    pub fn run(
        &self,
        name: &str,
        range: &NdRange,
        arguments: &[Arg],
        memory: &mut Memory,
        side: Side,
    ) -> Result<Report, String> {
        let Code { module, kernel, compiled, loaded, loop_counters } = self;
        // Elements of every type are aligned in whole numbers of them, so that a buffer can end where memory does.
        let buffer = |bytes: &Vec<u8>| Object::new(bytes, 1 << bytes.len().trailing_zeros().min(7), side);
        let buffers: Vec<Object> = memory.buffers.iter().map(buffer).collect();
        let globals: Vec<Object> =
            module.globals.values().map(|global_data| Object::new(&global_data.init, 128, side)).collect();
        let table: Vec<*mut u8> = globals.iter().map(Object::ptr).collect();
        for (global_data, &at) in module.globals.values().zip(&table) {
            for &(offset, target, addend) in &global_data.relocs {
                let address = (table[target.as_u32() as usize] as u64).wrapping_add_signed(addend);
                // SAFETY: the verifier checks that the eight bytes lie inside the contents.
                unsafe { at.add(offset as usize).cast::<u64>().write_unaligned(address) };
            }
        }

        let needs = compiled.object.needs;
        let mut end = needs.local_bytes;
        let mut block = vec![0; kernel.args_size as usize];
        for (param, argument) in kernel.params.iter().zip(arguments) {
            let bytes = match argument {
                Arg::Local(size) => {
                    let offset = end.next_multiple_of(128);
                    end = offset + size;
                    offset.to_ne_bytes().to_vec()
                }
                Arg::Buffer(index) => (buffers[*index].ptr() as u64).to_ne_bytes().to_vec(),
                Arg::Null if param.kind != ParamKind::Value => vec![0; 8],
                Arg::Null => vec![0; param.size as usize],
                Arg::Value(bytes) => bytes.clone(),
            };
            block[param.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        let items_offset = end.next_multiple_of(128);
        let scratch = needs.total_bytes(items_offset, range.local_size).ok_or("too much scratch memory")?;
        let scratch = Object::new(&vec![UNWRITTEN; scratch as usize], 128, side);
        let block = Object::new(&block, 128, side);
        let printer = Printer {
            module,
            events: RefCell::new(Vec::new()),
            failure: RefCell::new(None),
            has_failed: AtomicBool::new(false),
        };
        let frame = LaunchFrame {
            global_offset: range.global_offset,
            global_size: range.global_size,
            local_size: range.local_size,
            num_groups: range.num_groups(),
            args: block.ptr(),
            globals: table.as_ptr(),
            items_offset,
            printf: print,
            printf_context: (&raw const printer).cast(),
            loop_counters: loop_counters.as_ptr(),
            work_dim: range.work_dim,
        };
        let may_fail = module.formats.values().any(|format| format.is_failure);
        let groups: u64 = range.num_groups().iter().product();
        watched(name, || {
            for first in (0..groups).step_by(CHUNK as usize) {
                let call = || {
                    // SAFETY: the frame and the scratch memory are as the ABI says, and what the kernel does with
                    // the buffers is defined.
                    unsafe { loaded.kernel_entry()(&frame, scratch.ptr(), first, groups.min(first + CHUNK)) };
                };
                if !may_fail {
                    call();
                } else if !printer.has_failed.load(Ordering::Relaxed) {
                    run_until_given_up(compiled.object.stack_bytes, &printer.has_failed, call)
                        .expect("memory for a stack");
                }
            }
        });
        scratch.contents()?;
        block.contents()?;
        memory.buffers = buffers.iter().map(Object::contents).collect::<Result<_, _>>()?;
        memory.globals = globals.iter().map(Object::contents).collect::<Result<_, _>>()?;
        match printer.failure.take() {
            Some(failure) => Err(failure),
            None => Ok(Report { printf: printer.events.into_inner(), ..Report::default() }),
        }
    }
}
