//! Programs and kernels: made, built, linked, asked, given arguments and launched.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::Op;
use super::objects::ask;
use super::transfers::enqueue;
use super::world::*;

/// The name of a variable that a program has, or may have.
fn variable_name(w: &mut World) -> *const c_char {
    if w.once_in(4) { w.name() } else { c"kept".as_ptr() }
}

/// What builds cost is why they are rare.
pub const OPS: &[Op] = &[
    ("clCreateProgramWithSource", 2, create_with_source),
    ("clCreateProgramWithBinary", 2, create_with_binary),
    ("clCreateProgramWithIL", 1, |w| {
        let (context, il, length) = (w.handle(Context), w.data(), w.small());
        let program = (w.d.clCreateProgramWithIL)(context, il, length, w.code_at());
        w.made(Program, program);
    }),
    ("clCreateProgramWithILKHR", 1, |w| {
        let (context, il, length) = (w.handle(Context), w.data(), w.small());
        let program = (w.x.il.clCreateProgramWithILKHR)(context, il, length, w.code_at());
        w.made(Program, program);
    }),
    ("clGetDeviceGlobalVariablePointerINTEL", 1, |w| {
        let (device, program, name) = (w.handle(Device), w.handle(Program), variable_name(w));
        let (mut size, mut address) = (0, ptr::null_mut());
        let code =
            (w.x.variables.clGetDeviceGlobalVariablePointerINTEL)(device, program, name, &mut size, &mut address);
        w.judge(Program, program, code);
    }),
    ("clEnqueueReadGlobalVariableINTEL", 1, |w| {
        let (program, name, offset, size) = (w.handle(Program), variable_name(w), w.offset(), w.size());
        let (to, wait, read) = (w.data(), w.blocking(), w.x.variables.clEnqueueReadGlobalVariableINTEL);
        enqueue(w, |_, queue, count, list, event| {
            read(queue, program, name, wait, size, offset, to, count, list, event)
        });
    }),
    ("clEnqueueWriteGlobalVariableINTEL", 1, |w| {
        let (program, name, offset, size) = (w.handle(Program), variable_name(w), w.offset(), w.size());
        let (from, wait, write) = (w.data(), w.blocking(), w.x.variables.clEnqueueWriteGlobalVariableINTEL);
        enqueue(w, |_, queue, count, list, event| {
            write(queue, program, name, wait, size, offset, from, count, list, event)
        });
    }),
    ("clCreateProgramWithBuiltInKernels", 1, |w| {
        let (context, (count, devices), names) = (w.handle(Context), w.handles(Device, 2), w.name());
        let make = w.d.clCreateProgramWithBuiltInKernels;
        let program = make(context, count, pointer(&devices), names, w.code_at());
        w.made(Program, program);
    }),
    ("clBuildProgram", 1, |w| {
        if !w.once_in(BUILDS) {
            return;
        }
        let (program, (count, devices), options) = (w.handle(Program), devices(w), options(w));
        let (notify, data) = notify(w);
        let code = (w.d.clBuildProgram)(program, count, pointer(&devices), options, notify, data);
        w.judge(Program, program, code);
    }),
    ("clCompileProgram", 1, compile),
    ("clLinkProgram", 1, link),
    ("clSetProgramReleaseCallback", 1, |w| {
        let (program, (notify, data)) = (w.handle(Program), notify(w));
        let code = (w.d.clSetProgramReleaseCallback)(program, notify, data);
        w.judge(Program, program, code);
    }),
    ("clSetProgramSpecializationConstant", 1, |w| {
        let (program, id, size, value) = (w.handle(Program), w.below(4) as u32, w.small(), w.data());
        let code = (w.d.clSetProgramSpecializationConstant)(program, id, size, value);
        w.judge(Program, program, code);
    }),
    ("clGetProgramInfo", 3, |w| {
        let (program, question) = (w.handle(Program), w.question(0x1160, 13));
        // Where the question is for binaries, the answer's words say where they go.
        let mut answer = vec![w.binaries; 1024];
        let size = w.size().min(8192);
        let answer = if w.once_in(5) { ptr::null_mut() } else { answer.as_mut_ptr() };
        let code = (w.d.clGetProgramInfo)(program, question, size, answer.cast(), &mut 0);
        w.judge(Program, program, code);
    }),
    ("clGetProgramBuildInfo", 3, |w| {
        let (program, device, question) = (w.handle(Program), w.handle(Device), w.question(0x1181, 6));
        let (size, answer) = (w.size(), w.answer());
        let code = (w.d.clGetProgramBuildInfo)(program, device, question, size, answer, &mut 0);
        w.judge(Program, program, code);
    }),
    ("clCreateKernel", 4, |w| {
        let (program, name) = (w.handle(Program), w.name());
        let kernel = (w.d.clCreateKernel)(program, name, w.code_at());
        w.made(Kernel, kernel);
    }),
    ("clCreateKernelsInProgram", 1, |w| {
        let (program, entries) = (w.handle(Program), w.below(9) as u32);
        let (mut list, mut count) = ([ptr::null_mut(); 8], 0);
        let list_at = if w.once_in(4) { ptr::null_mut() } else { list.as_mut_ptr() };
        let code = (w.d.clCreateKernelsInProgram)(program, entries, list_at, &mut count);
        w.judge(Program, program, code);
        for kernel in list {
            assert!(code == CL_SUCCESS || kernel.is_null(), "kernels were made with an error");
            if !kernel.is_null() {
                w.add(Kernel, kernel);
            }
        }
    }),
    ("clCloneKernel", 2, |w| {
        let kernel = w.handle(Kernel);
        let kernel = (w.d.clCloneKernel)(kernel, w.code_at());
        w.made(Kernel, kernel);
    }),
    ("clGetKernelInfo", 2, |w| ask(w, Kernel, w.d.clGetKernelInfo, 0x1190, 6)),
    ("clGetKernelWorkGroupInfo", 2, |w| {
        let (kernel, device, question) = (w.handle(Kernel), w.handle(Device), w.question(0x11B0, 6));
        let (size, answer) = (w.size(), w.answer());
        let code = (w.d.clGetKernelWorkGroupInfo)(kernel, device, question, size, answer, &mut 0);
        w.judge(Kernel, kernel, code);
    }),
    ("clGetKernelSubGroupInfo", 2, |w| {
        let (kernel, device, question) =
            (w.handle(Kernel), w.handle(Device), w.number(&[0x2033, 0x2034, 0x11B8, 0x11B9, 0x11BA]));
        let (given, size, answer) = (w.triple(64), w.size(), w.answer());
        let room = w.any(&[0, 4, 8, 16, 24, usize::MAX]);
        let given = if w.once_in(5) { ptr::null() } else { given.as_ptr() };
        let ask = w.d.clGetKernelSubGroupInfo;
        let code = ask(kernel, device, question, room, given.cast(), size, answer, &mut 0);
        w.judge(Kernel, kernel, code);
    }),
    ("clGetKernelArgInfo", 2, |w| {
        let (kernel, index, question) = (w.handle(Kernel), w.below(6) as u32, w.question(0x1196, 5));
        let (size, answer) = (w.size(), w.answer());
        let code = (w.d.clGetKernelArgInfo)(kernel, index, question, size, answer, &mut 0);
        w.judge(Kernel, kernel, code);
    }),
    ("clGetKernelSuggestedLocalWorkSizeKHR", 1, |w| {
        let (queue, kernel, dimensions) = (w.handle(Queue), w.handle(Kernel), dimensions(w));
        let (offset, global, mut local) = (w.triple(16), global(w), [0; 3]);
        let suggest = w.x.local_size.clGetKernelSuggestedLocalWorkSizeKHR;
        let local = if w.once_in(10) { ptr::null_mut() } else { local.as_mut_ptr() };
        let code = suggest(queue, kernel, dimensions, offset.as_ptr(), global.as_ptr(), local);
        w.judge(Kernel, kernel, code);
    }),
    ("clSetKernelArg", 12, set_argument),
    ("clSetKernelArg", 12, set_arguments),
    ("clSetKernelArgSVMPointer", 1, |w| {
        let (kernel, index, address) = (w.handle(Kernel), w.below(6) as u32, w.shared_pointer());
        let code = (w.d.clSetKernelArgSVMPointer)(kernel, index, address);
        w.judge(Kernel, kernel, code);
    }),
    ("clSetKernelArgMemPointerINTEL", 1, |w| {
        let (kernel, index, address) = (w.handle(Kernel), w.below(6) as u32, w.shared_pointer());
        let code = (w.x.usm.clSetKernelArgMemPointerINTEL)(kernel, index, address);
        w.judge(Kernel, kernel, code);
    }),
    ("clSetKernelArgDevicePointerEXT", 1, |w| {
        let (kernel, index, address) = (w.handle(Kernel), w.below(6) as u32, w.shared_pointer() as u64);
        let code = (w.x.address.clSetKernelArgDevicePointerEXT)(kernel, index, address);
        w.judge(Kernel, kernel, code);
    }),
    ("clSetKernelExecInfo", 1, |w| {
        let kernel = w.handle(Kernel);
        let names = [0x11B6, 0x11B7, 0x4200, 0x4201, 0x4202, 0x4203, 0x5006];
        let (name, size, value) = (w.number(&names), w.small(), w.data());
        let code = (w.d.clSetKernelExecInfo)(kernel, name, size, value);
        w.judge(Kernel, kernel, code);
    }),
    ("clEnqueueNDRangeKernel", 10, |w| {
        let (kernel, launch) = (w.handle(Kernel), Launch::new(w));
        enqueue(w, |d, queue, count, list, event| {
            let (offset, global, local) = launch.pointers();
            (d.clEnqueueNDRangeKernel)(queue, kernel, launch.dimensions, offset, global, local, count, list, event)
        });
    }),
    ("clEnqueueTask", 2, |w| {
        let kernel = w.handle(Kernel);
        enqueue(w, |d, queue, count, list, event| (d.clEnqueueTask)(queue, kernel, count, list, event));
    }),
    ("clEnqueueNativeKernel", 2, native),
];

/// One of so many calls that would compile something does.
const BUILDS: usize = 40;

/// The program that episodes begin with. Kernels only touch what every argument there can be has, and are small: each
/// program compiles them anew.
pub const SOURCE: &str = "
    typedef struct { int a; float b[7]; } record_t;
    global uchar kept[64];
    kernel void touch(global uchar *a, constant uchar *b, uchar n, local uchar *l) {
        if (get_global_id(0) + get_global_id(1) + get_global_id(2) == 0) {
            if (a) a[0] += n + kept[n % 64];
            if (a && b) a[0] ^= b[0];
        }
        if (l) l[0] = n;
    }
    kernel void pixels(read_only image2d_t from, sampler_t s, write_only image2d_t to) {}
    kernel void record(record_t r, global uchar *a) {
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (a && get_local_id(0) == 0) a[0] = r.a + r.b[6];
    }
    kernel void shared(global uchar *a, ulong address, read_write image2d_t i) {
        if (a) a[0] = address;
    }
    kernel void packets(global uchar *a, write_only pipe uchar to, read_only pipe uchar from) {
        uchar packet = get_global_id(0);
        write_pipe(to, &packet);
        reserve_id_t some = reserve_read_pipe(from, 2);
        if (is_valid_reserve_id(some)) {
            read_pipe(from, some, 1, &packet);
            commit_read_pipe(from, some);
        }
        if (read_pipe(from, &packet) == 0 && a) a[0] = packet;
    }
";

const SOURCES: &[&CStr] = &[
    c"kernel void touch(global uchar *a, constant uchar *b, uchar n, local uchar *l) { if (a) a[0] = n; }",
    c"kernel void touch(",
    c"",
    c"void helper(void); kernel void touch(uchar a) { helper(); }",
    c"void helper(void) {}",
    c"#include \"helper.h\"\nkernel void touch(uchar a) {}",
    c"#error no",
    c"\xFF\xFE(((",
];

const OPTIONS: &[&CStr] = &[
    c"",
    c"-cl-std=CL3.0",
    c"-cl-kernel-arg-info -w",
    c"-D N=1 -I /none",
    c"-cl-fast-relaxed-math -cl-mad-enable",
    c"-create-library",
    c"-create-library -enable-link-options",
    c"-cl-std=CL9.9",
    c"--nonsense",
    c"-D",
    c"\"",
    c"-x spir",
];

fn options(w: &mut World) -> *const c_char {
    if w.once_in(4) { ptr::null() } else { w.any(OPTIONS).as_ptr() }
}

fn devices(w: &mut World) -> (cl_uint, Vec<Handle>) {
    if w.once_in(2) { (0, vec![]) } else { w.handles(Device, 2) }
}

extern "C" fn program_notify(_: cl_program, _: *mut c_void) {}

type Notify = Option<extern "C" fn(cl_program, *mut c_void)>;

fn notify(w: &mut World) -> (Notify, *mut c_void) {
    let notify = w.any(&[None, None, Some(program_notify as extern "C" fn(_, _))]);
    (notify, if w.once_in(3) { w.data() } else { ptr::null_mut() })
}

fn create_with_source(w: &mut World) {
    let context = w.handle(Context);
    let texts: Vec<&CStr> = (0..w.below(3)).map(|_| w.any(SOURCES)).collect();
    let strings: Vec<_> = texts.iter().map(|text| if w.once_in(20) { ptr::null() } else { text.as_ptr() }).collect();
    let lengths: Vec<_> = texts.iter().map(|text| w.below(text.count_bytes() + 1)).collect();
    let lengths = if w.once_in(2) { ptr::null() } else { pointer(&lengths) };
    let make = w.d.clCreateProgramWithSource;
    let program = make(context, strings.len() as u32, pointer(&strings), lengths, w.code_at());
    w.made(Program, program);
}

fn create_with_binary(w: &mut World) {
    let (context, (count, devices)) = (w.handle(Context), w.handles(Device, 2));
    let mut damaged = w.binary.to_vec();
    let binaries: Vec<(*const u8, usize)> = (0..count)
        .map(|_| match w.below(8) {
            0 => (ptr::null(), 0),
            1 => (w.binary.as_ptr(), w.below(w.binary.len())),
            2 => {
                let place = w.below(damaged.len());
                damaged[place] ^= 1 << w.below(8);
                (damaged.as_ptr(), damaged.len())
            }
            3 => (w.data().cast_const().cast(), w.small()),
            _ => (w.binary.as_ptr(), w.binary.len()),
        })
        .collect();
    let (starts, lengths): (Vec<_>, Vec<_>) = binaries.into_iter().unzip();
    let mut status = [0; 4];
    let status = if w.once_in(3) { ptr::null_mut() } else { status.as_mut_ptr() };
    let make = w.d.clCreateProgramWithBinary;
    let program = make(context, count, pointer(&devices), pointer(&lengths), pointer(&starts), status, w.code_at());
    w.made(Program, program);
}

fn compile(w: &mut World) {
    if !w.once_in(BUILDS) {
        return;
    }
    let (program, (count, devices), options) = (w.handle(Program), devices(w), options(w));
    let (headers, list) = w.handles(Program, 2);
    let names: Vec<_> = list.iter().map(|_| c"helper.h".as_ptr()).collect();
    let names = if w.once_in(10) { ptr::null() } else { pointer(&names) };
    let (notify, data) = notify(w);
    let compile = w.d.clCompileProgram;
    let code = compile(program, count, pointer(&devices), options, headers, pointer(&list), names, notify, data);
    w.judge(Program, program, code);
}

fn link(w: &mut World) {
    if !w.once_in(BUILDS / 4) {
        return;
    }
    let (context, (count, devices), options) = (w.handle(Context), devices(w), options(w));
    let (inputs, list) = w.handles(Program, 3);
    let (notify, data) = notify(w);
    let link = w.d.clLinkProgram;
    let code = w.code_at();
    let program = link(context, count, pointer(&devices), options, inputs, pointer(&list), notify, data, code);
    // A program that could not be linked is there for its log.
    if !program.is_null() {
        w.add(Program, program);
    }
}

fn set_argument(w: &mut World) {
    let (kernel, index) = (w.handle(Kernel), w.below(6) as u32);
    let mut value = [0_usize; 1024];
    let (size, kind) = match w.below(10) {
        0..4 => (8, Some(Mem)),
        4 => (8, Some(Sampler)),
        5 => (8, Some(Queue)),
        6 => (1, None),
        7 => (32, None),
        _ => (w.size(), None),
    };
    // What is read of a value is what the argument's type has.
    value[0] = kind.map_or(0x11, |kind| w.handle(kind) as usize);
    let size = if w.once_in(30) { w.size() } else { size };
    let value = if w.once_in(5) { ptr::null() } else { value.as_ptr() };
    let code = (w.d.clSetKernelArg)(kernel, index, size, value.cast());
    w.judge(Kernel, kernel, code);
}

/// All arguments of one of the first program's kernels, which the kernel may be.
fn set_arguments(w: &mut World) {
    let kernel = w.handle(Kernel);
    let mut value = [0_usize; 4];
    let forms = [
        &["buffer", "buffer", "1", "local"][..],
        &["image", "sampler", "image"],
        &["32", "buffer"],
        &["buffer", "8", "image"],
        &["buffer", "pipe", "pipe"],
    ];
    for (index, form) in w.any(&forms).iter().enumerate() {
        value[0] = 0;
        let size = match *form {
            "buffer" => {
                value[0] = w.buffer() as usize;
                8
            }
            "image" => {
                value[0] = w.image() as usize;
                8
            }
            "pipe" => {
                value[0] = w.pipe() as usize;
                8
            }
            "sampler" => {
                value[0] = w.handle(Sampler) as usize;
                8
            }
            "local" => 64,
            bytes => bytes.parse().expect("a number"),
        };
        let value = if *form == "local" { ptr::null() } else { value.as_ptr() };
        let code = (w.d.clSetKernelArg)(kernel, index as u32, size, value.cast());
        w.judge(Kernel, kernel, code);
    }
}

fn dimensions(w: &mut World) -> cl_uint {
    if w.once_in(12) { w.any(&[0, 4, u32::MAX]) } else { w.any(&[1, 1, 2, 3]) }
}

/// Sizes of a range: small ones, since a range of any size is lawful and would be run.
fn global(w: &mut World) -> [usize; 3] {
    [w.any(&[0, 1, 2, 16, 33, 64, 100]), w.any(&[1, 1, 2, 4, 0]), w.any(&[1, 1, 2, 0])]
}

/// A range.
pub struct Launch {
    pub dimensions: cl_uint,
    offset: Option<[usize; 3]>,
    global: Option<[usize; 3]>,
    local: Option<[usize; 3]>,
}

impl Launch {
    pub fn new(w: &mut World) -> Self {
        let dimensions = dimensions(w);
        let offset = w.once_in(6).then(|| w.triple(16));
        let global = (!w.once_in(30)).then(|| global(w));
        let local = w.once_in(2).then(|| match w.below(8) {
            0 => w.triple(4096),
            1 => [0; 3],
            _ => [w.any(&[1, 2, 16, 50]), 1, 1],
        });
        Launch { dimensions, offset, global, local }
    }

    pub fn pointers(&self) -> (*const usize, *const usize, *const usize) {
        let pointer = |triple: &Option<[usize; 3]>| triple.as_ref().map_or(ptr::null(), |triple| triple.as_ptr());
        (pointer(&self.offset), pointer(&self.global), pointer(&self.local))
    }
}

extern "C" fn nothing(_: *mut c_void) {}

fn native(w: &mut World) {
    let function = if w.once_in(8) { None } else { Some(nothing as extern "C" fn(_)) };
    let mut arguments = [0_u64; 16];
    let (count, objects) = w.handles(Mem, 3);
    let size = w.any(&[0, 8, 64, 128]);
    let arguments = if w.once_in(4) { ptr::null_mut() } else { arguments.as_mut_ptr() };
    let places: Vec<*const c_void> =
        (0..count as usize).map(|i| arguments.cast_const().wrapping_add(i).cast()).collect();
    // Places outside of what there is are the application's fault.
    let (count, objects) = if arguments.is_null() || size < 64 { (0, vec![]) } else { (count, objects) };
    let places = if count == 0 { ptr::null() } else { pointer(&places) };
    enqueue(w, |d, queue, events, list, event| {
        let (arguments, objects) = (arguments.cast(), pointer(&objects));
        (d.clEnqueueNativeKernel)(queue, function, arguments, size, count, objects, places, events, list, event)
    });
}
