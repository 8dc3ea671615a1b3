//! Runs compiled kernels as the runtime does, on one thread, with the interface of the interpreter.

use lockstep_compiler::codegen::abi::LaunchFrame;
use lockstep_compiler::interp::{Arg, Memory, NdRange, PrintfEvent, Report};
use lockstep_compiler::ir::{Format, Module, ParamKind, Type};
use lockstep_compiler::pipeline::{CompileOptions, compile_kernel};
use lockstep_compiler::widen::Reason;
use std::cell::RefCell;
use std::ffi::c_void;

/// Groups per call of the code: few, so that chunks begin and end in the middle of rows.
const CHUNK: u64 = 3;
/// What memory holds that nothing was written to.
const UNWRITTEN: u8 = 0xa5;
/// Bytes before and behind each object that the kernel must not touch.
const FENCE: usize = 128;

/// Bytes aligned to 128 between fences.
struct Object {
    words: Vec<u128>,
    start: usize,
    len: usize,
}

impl Object {
    fn new(contents: &[u8]) -> Object {
        let words = vec![u128::from_ne_bytes([UNWRITTEN; 16]); (contents.len() + 2 * FENCE + 128).div_ceil(16)];
        let start = words.as_ptr().cast::<u8>().align_offset(128) + FENCE;
        let mut object = Object { words, start, len: contents.len() };
        // SAFETY: the words have room for two fences, the contents and the alignment.
        unsafe { std::ptr::copy_nonoverlapping(contents.as_ptr(), object.ptr(), contents.len()) };
        object
    }

    fn ptr(&mut self) -> *mut u8 {
        // SAFETY: `start` lies in the words.
        unsafe { self.words.as_mut_ptr().cast::<u8>().add(self.start) }
    }

    /// The contents, if the fences are whole.
    fn contents(&self) -> Result<Vec<u8>, String> {
        let bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let (before, rest) = bytes.split_at(self.start);
        let (contents, behind) = rest.split_at(self.len);
        let whole = before.iter().chain(behind).all(|&byte| byte == UNWRITTEN);
        if whole { Ok(contents.to_vec()) } else { Err("the code wrote outside of an object".to_string()) }
    }
}

struct Printer<'a> {
    module: &'a Module,
    events: RefCell<Vec<PrintfEvent>>,
}

unsafe extern "C" fn print(context: *const c_void, format: u32, packed: *const u64) -> i32 {
    // SAFETY: `run` passes a `Printer` that outlives the call; a call packs what its format says.
    unsafe {
        let printer = &*context.cast::<Printer>();
        let format = Format::from_u32(format);
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
        let args = types.enumerate().map(bits).collect();
        printer.events.borrow_mut().push(PrintfEvent { format, args, global_id: [0; 3] });
    }
    0
}

/// Compiles a kernel, its work-items one after the other, and runs it over a range. `opt_disable` is the build
/// option.
pub fn run(
    module: &Module,
    kernel: &str,
    range: &NdRange,
    args: &[Arg],
    memory: &mut Memory,
    opt_disable: bool,
) -> Result<Report, String> {
    let options = CompileOptions { opt_disable, ..CompileOptions::default() };
    run_with(options, module, kernel, range, args, memory).map(|(report, _)| report)
}

/// Compiles a kernel and runs it over a range. Buffers and program-scope variables change as in the
/// interpreter; the report holds printf's calls. And why the kernel does not run in gangs, if it was to.
pub fn run_with(
    options: CompileOptions,
    module: &Module,
    kernel: &str,
    range: &NdRange,
    args: &[Arg],
    memory: &mut Memory,
) -> Result<(Report, Option<Reason>), String> {
    let index = module.kernels.iter().position(|k| k.name == kernel).ok_or("no such kernel")?;
    let kernel = &module.kernels[index];
    let dump = std::env::var_os("LOCKSTEP_TEST_DUMP").map(Into::into);
    let options = CompileOptions { dump, ..options };
    let variant = compile_kernel(module, index, &options).map_err(|error| error.to_string())?;

    let mut buffers: Vec<Object> = memory.buffers.iter().map(|bytes| Object::new(bytes)).collect();
    let mut globals: Vec<Object> = module.globals.values().map(|data| Object::new(&data.init)).collect();
    let table: Vec<*mut u8> = globals.iter_mut().map(Object::ptr).collect();
    for (data, &at) in module.globals.values().zip(&table) {
        for &(offset, target, addend) in &data.relocs {
            let address = (table[target.as_u32() as usize] as u64).wrapping_add_signed(addend);
            // SAFETY: the verifier checks that the eight bytes lie inside the contents.
            unsafe { at.add(offset as usize).cast::<u64>().write_unaligned(address) };
        }
    }

    let needs = variant.needs();
    let mut end = needs.local_bytes;
    let mut block = vec![0; kernel.args_size as usize];
    for (param, arg) in kernel.params.iter().zip(args) {
        let bytes = match arg {
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
    let items = range.local_size.iter().product();
    let scratch = needs.total_bytes(items_offset, items).ok_or("too much scratch memory")?;
    let mut scratch = Object::new(&vec![UNWRITTEN; scratch as usize]);
    let mut block = Object::new(&block);
    let printer = Printer { module, events: RefCell::new(Vec::new()) };
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
        work_dim: range.work_dim,
    };
    let groups: u64 = range.num_groups().iter().product();
    for first in (0..groups).step_by(CHUNK as usize) {
        // SAFETY: the frame and the scratch memory are as the ABI says, and what the kernel does with the
        // buffers the interpreter has found good.
        unsafe { variant.entry()(&frame, scratch.ptr(), first, groups.min(first + CHUNK)) };
    }
    scratch.contents()?;
    block.contents()?;
    memory.buffers = buffers.iter().map(Object::contents).collect::<Result<_, _>>()?;
    memory.globals = globals.iter().map(Object::contents).collect::<Result<_, _>>()?;
    Ok((Report { printf: printer.events.into_inner(), ..Report::default() }, variant.reason()))
}
