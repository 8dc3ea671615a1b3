//! Runs compiled kernels the way the runtime does, on one thread.

use lockstep_compiler::codegen::abi::LaunchFrame;
use lockstep_compiler::ir::Module;
use lockstep_compiler::pipeline::{CompileOptions, Variant, compile_kernel};
use std::cell::RefCell;
use std::ffi::c_void;

/// An NDRange.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub dim: u32,
    pub offset: [u64; 3],
    pub global: [u64; 3],
    pub local: [u64; 3],
}

impl Range {
    /// One dimension without an offset.
    pub fn line(global: u64, local: u64) -> Range {
        Range { dim: 1, offset: [0; 3], global: [global, 1, 1], local: [local, 1, 1] }
    }
}

/// Memory with the alignment that the ABI asks for, filled with a pattern that no test expects.
pub struct Aligned {
    words: Vec<u128>,
    start: usize,
}

impl Aligned {
    pub fn new(bytes: u64) -> Aligned {
        let words = vec![0xa5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5; bytes as usize / 16 + 10];
        let start = words.as_ptr().align_offset(128);
        Aligned { words, start }
    }

    pub fn ptr(&mut self) -> *mut u8 {
        self.words[self.start..].as_mut_ptr().cast()
    }
}

/// What one printf call handed over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Printed {
    pub format: u32,
    pub args: Vec<u64>,
}

struct Printer<'a> {
    module: &'a Module,
    calls: RefCell<Vec<Printed>>,
}

unsafe extern "C" fn print(context: *const c_void, format: u32, args: *const u64) -> i32 {
    // SAFETY: `run` passes a `Printer` that outlives the call; a call packs what its format says.
    unsafe {
        let printer = &*context.cast::<Printer>();
        let index = lockstep_compiler::ir::Format::from_u32(format);
        let count: usize = printer.module.formats[index].args.iter().map(|&(_, n)| usize::from(n)).sum();
        let args = std::slice::from_raw_parts(args, count).to_vec();
        printer.calls.borrow_mut().push(Printed { format, args });
    }
    0
}

/// Compiles kernel 0 of a module.
pub fn compile(module: &Module) -> Variant {
    let options = CompileOptions { dump: std::env::var_os("LOCKSTEP_TEST_DUMP").map(Into::into), ..Default::default() };
    compile_kernel(module, 0, &options).unwrap_or_else(|error| panic!("{error}\n{module}"))
}

/// The program-scope variables of a module in memory.
pub fn globals(module: &Module) -> Vec<Vec<u128>> {
    let in_memory = |init: &Vec<u8>| {
        let mut bytes = init.clone();
        bytes.resize(init.len().next_multiple_of(16) + 16, 0);
        bytes.chunks_exact(16).map(|c| u128::from_ne_bytes(c.try_into().unwrap_or_default())).collect()
    };
    let mut memory: Vec<Vec<u128>> = module.globals.values().map(|data| in_memory(&data.init)).collect();
    let addresses: Vec<u64> = memory.iter().map(|words| words.as_ptr() as u64).collect();
    for (words, data) in memory.iter_mut().zip(module.globals.values()) {
        for &(at, target, addend) in &data.relocs {
            let address = addresses[target.as_u32() as usize].wrapping_add_signed(addend);
            // SAFETY: the verifier checks that the eight bytes lie inside the contents.
            unsafe { words.as_mut_ptr().cast::<u8>().add(at as usize).cast::<u64>().write_unaligned(address) };
        }
    }
    memory
}

/// Runs all groups of an NDRange, in calls of `chunk` groups. `args` is the argument block; `local_args`
/// are the sizes of `__local` arguments, whose offsets are written to the given places of the block.
pub fn run(
    module: &Module,
    variant: &Variant,
    range: Range,
    chunk: u64,
    args: &mut [u8],
    local_args: &[(usize, u64)],
    globals: &mut [Vec<u128>],
) -> Vec<Printed> {
    let needs = variant.needs();
    let mut end = needs.local_bytes;
    for &(place, size) in local_args {
        end = end.next_multiple_of(128);
        args[place..place + 8].copy_from_slice(&end.to_ne_bytes());
        end += size;
    }
    let items_offset = end.next_multiple_of(128);
    let items = range.local.iter().product();
    let mut scratch = Aligned::new(needs.total_bytes(items_offset, items).expect("size"));
    let mut block = Aligned::new(args.len() as u64);
    // SAFETY: the block has room for the arguments.
    unsafe { std::ptr::copy_nonoverlapping(args.as_ptr(), block.ptr(), args.len()) };
    let table: Vec<*mut u8> = globals.iter_mut().map(|words| words.as_mut_ptr().cast()).collect();
    let num_groups: [u64; 3] = std::array::from_fn(|d| range.global[d].div_ceil(range.local[d]));
    let printer = Printer { module, calls: RefCell::new(Vec::new()) };
    let frame = LaunchFrame {
        global_offset: range.offset,
        global_size: range.global,
        local_size: range.local,
        num_groups,
        args: block.ptr(),
        globals: table.as_ptr(),
        items_offset,
        printf: print,
        printf_context: (&raw const printer).cast(),
        work_dim: range.dim,
    };
    let groups: u64 = num_groups.iter().product();
    let mut first = 0;
    while first < groups {
        let last = groups.min(first + chunk);
        // SAFETY: the frame and the scratch memory are as the ABI says; buffers are the test's.
        unsafe { variant.entry()(&frame, scratch.ptr(), first, last) };
        first = last;
    }
    printer.calls.into_inner()
}
