//! Programs (OpenCL API, 5.8): creation, build, compile, link.

use std::ffi::{CStr, c_char, c_uchar, c_void};
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::context::Context;
use lockstep_runtime::device::Device;
use lockstep_runtime::platform::Platform;
use lockstep_runtime::program::build::{Done, Header};
use lockstep_runtime::program::{self, Program, build};
use lockstep_runtime::{Result, ensure, error};
use opencl_sys::{
    CL_INVALID_BINARY, CL_INVALID_DEVICE, CL_INVALID_OPERATION, CL_INVALID_PROGRAM, CL_INVALID_VALUE, CL_SUCCESS,
    cl_context, cl_device_id, cl_int, cl_platform_id, cl_program, cl_uint,
};

use crate::api::buffer::check_context;
use crate::api::context::check_callback;
use crate::error::Call;
use crate::handle;
use crate::user::UserData;

/// `pfn_notify` of a build, a compilation or a link.
type Notify = Option<unsafe extern "C" fn(cl_program, *mut c_void)>;

/// The bytes of one string: `length` of them, or up to the null where no length is given.
///
/// # Safety
/// `string` points to that many bytes, or to a null-terminated string when `length` is 0.
unsafe fn string_bytes<'a>(string: *const c_char, length: usize) -> &'a [u8] {
    if length == 0 {
        // SAFETY: the caller vouches for the terminating null.
        return unsafe { CStr::from_ptr(string) }.to_bytes();
    }
    // SAFETY: the caller vouches for the length.
    unsafe { std::slice::from_raw_parts(string.cast(), length) }
}

/// An option string; null is none.
///
/// # Safety
/// `options` is null or points to a null-terminated string.
unsafe fn option_string<'a>(options: *const c_char) -> Result<&'a str> {
    if options.is_null() {
        return Ok("");
    }
    // SAFETY: the caller vouches for it.
    program::parse_name(unsafe { CStr::from_ptr(options) }.to_bytes())
}

/// What to call when the action has ended.
///
/// "CL_INVALID_VALUE if pfn_notify is NULL but user_data is not NULL."
fn completion_callback(notify: Notify, program: cl_program, user_data: *mut c_void) -> Result<Option<Done>> {
    check_callback(notify.is_some(), user_data)?;
    let (program, user_data) = (UserData(program), UserData(user_data));
    Ok(notify.map(|notify| -> Done {
        // SAFETY: the application registered this function for this call, and its data with it.
        Box::new(move || unsafe { notify(program.get(), user_data.get()) })
    }))
}

/// "CL_INVALID_VALUE if device_list is NULL and num_devices is greater than zero, or if device_list is not NULL and
/// num_devices is zero. CL_INVALID_DEVICE if device in device_list is not in the list of devices associated with
/// program."
///
/// # Safety
/// `devices` is null or points to `count` handles.
unsafe fn check_devices(program: &Program, count: cl_uint, devices: *const cl_device_id) -> Result<()> {
    // SAFETY: the caller vouches for the array.
    let devices = unsafe { handle::list::<Device>(count, devices, CL_INVALID_VALUE)? };
    program::check_devices(program, &devices)
}

/// The devices of a list.
///
/// "CL_INVALID_VALUE if device_list is NULL and num_devices is greater than zero, or if device_list is not NULL and
/// num_devices is zero." "CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated with
/// context."
///
/// # Safety
/// `devices` is null or points to `count` handles.
unsafe fn devices_of(context: &Context, count: cl_uint, devices: *const cl_device_id) -> Result<Vec<Arc<Device>>> {
    // SAFETY: the same contract.
    let devices = unsafe { handle::list::<Device>(count, devices, CL_INVALID_VALUE)? };
    for (i, device) in devices.iter().enumerate() {
        ensure!(context.has_device(device), CL_INVALID_DEVICE, "device {i} of {count} is none of the context's");
    }
    Ok(devices)
}

/// "CL_INVALID_CONTEXT if the context associated with program and programs in input_headers are not the same", and likewise
/// for input_programs.
fn check_programs(programs: &[Arc<Program>], context: &Arc<Context>) -> Result<()> {
    for (i, program) in programs.iter().enumerate() {
        check_context(program.context(), context, format_args!("input program {i} of {}", programs.len()))?;
    }
    Ok(())
}

/// `clCreateProgramWithSource`: makes a program of OpenCL C text.
#[entry_point(clCreateProgramWithSource)]
pub unsafe fn create_program_with_source(
    context: cl_context,
    count: cl_uint,
    strings: *mut *const c_char,
    lengths: *const usize,
) -> Result<cl_program> {
    let context = handle::get::<Context>(context)?;
    // "CL_INVALID_VALUE if count is zero or if strings or any entry in strings is NULL."
    ensure!(count > 0, CL_INVALID_VALUE, "count is 0");
    ensure!(!strings.is_null(), CL_INVALID_VALUE, "strings is NULL");
    let mut pieces = Vec::with_capacity(count as usize);
    for index in 0..count as usize {
        // SAFETY: the caller vouches for `count` strings.
        let string = unsafe { strings.add(index).read() };
        ensure!(!string.is_null(), CL_INVALID_VALUE, "strings[{index}] of {count} is NULL");
        // SAFETY: the caller vouches for `count` lengths where there are any.
        let length = if lengths.is_null() { 0 } else { unsafe { lengths.add(index).read() } };
        // SAFETY: the caller vouches for the length, or the null at the end.
        pieces.push(unsafe { string_bytes(string, length) });
    }
    handle::publish(Program::with_source(context, program::join_source(&pieces)?))
}

/// `clCreateProgramWithBinary`: makes a program of what `CL_PROGRAM_BINARIES` gave.
#[entry_point(clCreateProgramWithBinary)]
pub unsafe fn create_program_with_binary(
    context: cl_context,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    lengths: *const usize,
    binaries: *mut *const c_uchar,
    binary_status: *mut cl_int,
) -> Result<cl_program> {
    let context = handle::get::<Context>(context)?;
    // "CL_INVALID_VALUE if device_list is NULL or num_devices is zero."
    ensure!(num_devices > 0, CL_INVALID_VALUE, "num_devices is 0");
    // SAFETY: the caller vouches for the array.
    let devices = unsafe { devices_of(&context, num_devices, device_list)? };
    // "CL_INVALID_VALUE if lengths or binaries is NULL or if any entry in lengths[i] or binaries[i] is zero or NULL".
    ensure!(!lengths.is_null(), CL_INVALID_VALUE, "lengths is NULL");
    ensure!(!binaries.is_null(), CL_INVALID_VALUE, "binaries is NULL");
    let status = |index: usize, code: cl_int| {
        if !binary_status.is_null() {
            // SAFETY: the caller vouches for as many status words as devices.
            unsafe { binary_status.add(index).write(code) };
        }
    };
    let mut given = Vec::with_capacity(devices.len());
    for index in 0..devices.len() {
        // SAFETY: the caller vouches for as many lengths and binaries as devices.
        let (length, binary) = unsafe { (lengths.add(index).read(), binaries.add(index).read()) };
        if length == 0 || binary.is_null() {
            status(index, CL_INVALID_VALUE);
            return Err(error!(CL_INVALID_VALUE, "lengths[{index}] is {length}, and binaries[{index}] {binary:p}"));
        }
        // SAFETY: the caller vouches for the length.
        let binary = unsafe { std::slice::from_raw_parts(binary, length) };
        let read = program::read_binary(binary);
        status(index, if read.is_ok() { CL_SUCCESS } else { CL_INVALID_BINARY });
        given.push(read.map_err(|error| error.with_subject(format_args!("binary {index} of {num_devices}"))));
    }
    // The devices are parts of one processor, so what is for one of them is for all.
    let given: Vec<_> = given.into_iter().collect::<Result<_>>()?;
    let binary = given.into_iter().next().ok_or_else(|| error!(CL_INVALID_VALUE, "there is no binary"))?;
    handle::publish(Program::with_binary(context, devices, binary))
}

/// `clCreateProgramWithBuiltInKernels`: the device has none.
#[entry_point(clCreateProgramWithBuiltInKernels)]
pub unsafe fn create_program_with_built_in_kernels(
    context: cl_context,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    kernel_names: *const c_char,
) -> Result<cl_program> {
    let context = handle::get::<Context>(context)?;
    ensure!(num_devices > 0, CL_INVALID_VALUE, "num_devices is 0");
    // SAFETY: the caller vouches for the array.
    unsafe { devices_of(&context, num_devices, device_list)? };
    // "CL_INVALID_VALUE if kernel_names is NULL or kernel_names contains a kernel name that is not supported by any
    // of the devices in device_list."
    ensure!(!kernel_names.is_null(), CL_INVALID_VALUE, "kernel_names is NULL");
    Err(error!(CL_INVALID_VALUE, "no device has built-in kernels"))
}

/// `clCreateProgramWithIL` and `clCreateProgramWithILKHR`: makes a program of a SPIR-V module.
#[entry_point(clCreateProgramWithIL)]
pub unsafe fn create_program_with_il(context: cl_context, il: *const c_void, length: usize) -> Result<cl_program> {
    let context = handle::get::<Context>(context)?;
    // "CL_INVALID_VALUE if il is NULL or if length is zero."
    ensure!(!il.is_null(), CL_INVALID_VALUE, "il is NULL");
    ensure!(length > 0, CL_INVALID_VALUE, "length is 0");
    // SAFETY: the caller vouches for the length.
    let module = unsafe { std::slice::from_raw_parts(il.cast::<u8>(), length) };
    // "CL_INVALID_VALUE if the length-byte memory pointed to by il does not contain well-formed intermediate language input".
    handle::publish(Program::with_spirv(context, module)?)
}

/// `clRetainProgram`: "CL_INVALID_PROGRAM if program is not a valid program object."
#[entry_point(clRetainProgram)]
pub fn retain_program(program: cl_program) -> Result<()> {
    handle::retain::<Program>(program)
}

/// `clReleaseProgram`: "CL_INVALID_PROGRAM if program is not a valid program object."
#[entry_point(clReleaseProgram)]
pub fn release_program(program: cl_program) -> Result<()> {
    handle::release::<Program>(program)
}

/// `clSetProgramReleaseCallback`: no device runs destructors of program-scope variables.
#[entry_point(clSetProgramReleaseCallback)]
pub fn set_program_release_callback(program: cl_program, _pfn_notify: Notify, _user_data: *mut c_void) -> Result<()> {
    handle::get::<Program>(program)?;
    // "CL_INVALID_OPERATION if no devices in the context associated with program support destructors for program
    // scope global variables."
    Err(error!(CL_INVALID_OPERATION, "no device supports destructors of program-scope variables"))
}

/// `clSetProgramSpecializationConstant`: gives a constant of a SPIR-V module another value.
#[entry_point(clSetProgramSpecializationConstant)]
pub unsafe fn set_program_specialization_constant(
    program: cl_program,
    spec_id: cl_uint,
    spec_size: usize,
    spec_value: *const c_void,
) -> Result<()> {
    let program = handle::get::<Program>(program)?;
    // "CL_INVALID_PROGRAM if program is not a valid program object created from an intermediate language".
    ensure!(
        program.intermediate_language().is_some(),
        CL_INVALID_PROGRAM,
        "the program was not created from an intermediate language"
    );
    // "CL_INVALID_VALUE if spec_size does not match the size of the specialization constant in the module, or if spec_value is NULL."
    ensure!(!spec_value.is_null(), CL_INVALID_VALUE, "spec_value is NULL");
    // No constant has more bytes than these; the value of one that has another size is not read.
    ensure!(spec_size <= 8, CL_INVALID_VALUE, "spec_size is {spec_size}");
    // SAFETY: the caller vouches for the size.
    let value = unsafe { std::slice::from_raw_parts(spec_value.cast::<u8>(), spec_size) };
    program.specialize(spec_id, value)
}

/// `clBuildProgram`: compiles and links a program for its devices.
#[entry_point(clBuildProgram)]
pub unsafe fn build_program(
    program: cl_program,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    build_options: *const c_char,
    pfn_notify: Notify,
    user_data: *mut c_void,
) -> Result<()> {
    let object = handle::get::<Program>(program)?;
    // SAFETY: the caller vouches for the array.
    unsafe { check_devices(&object, num_devices, device_list)? };
    let done = completion_callback(pfn_notify, program, user_data)?;
    // SAFETY: the caller vouches for the string.
    build::build_program(&object, unsafe { option_string(build_options)? }, done)
}

/// `clCompileProgram`: compiles a program's source, with headers, without linking it.
#[entry_point(clCompileProgram)]
pub unsafe fn compile_program(
    program: cl_program,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    compile_options: *const c_char,
    num_input_headers: cl_uint,
    input_headers: *const cl_program,
    header_include_names: *mut *const c_char,
    pfn_notify: Notify,
    user_data: *mut c_void,
) -> Result<()> {
    let object = handle::get::<Program>(program)?;
    // SAFETY: the caller vouches for the array.
    unsafe { check_devices(&object, num_devices, device_list)? };
    // "CL_INVALID_VALUE if num_input_headers is zero and header_include_names or input_headers are not NULL or if
    // num_input_headers is not zero and header_include_names or input_headers are NULL."
    handle::check_list(num_input_headers, "include name", header_include_names, CL_INVALID_VALUE)?;
    // SAFETY: the caller vouches for the array.
    let programs = unsafe { handle::list::<Program>(num_input_headers, input_headers, CL_INVALID_VALUE)? };
    let mut headers = Vec::with_capacity(programs.len());
    check_programs(&programs, object.context())?;
    for (index, header) in programs.iter().enumerate() {
        // SAFETY: the caller vouches for as many names as headers.
        let name = unsafe { header_include_names.add(index).read() };
        ensure!(!name.is_null(), CL_INVALID_VALUE, "header_include_names[{index}] is NULL");
        // SAFETY: the caller vouches for the terminating null.
        let name = program::parse_name(unsafe { CStr::from_ptr(name) }.to_bytes())?;
        let none = || error!(CL_INVALID_OPERATION, "input header {index}, '{name}', is a program without source");
        let source = header.source().ok_or_else(none)?;
        headers.push(Header::new(name, source.as_bytes()));
    }
    let done = completion_callback(pfn_notify, program, user_data)?;
    // SAFETY: the caller vouches for the string.
    build::compile_program(&object, unsafe { option_string(compile_options)? }, headers, done)
}

/// `clLinkProgram`.
///
/// # Safety
/// The pointers are as the specification says.
#[allow(non_snake_case)]
pub unsafe extern "C" fn clLinkProgram(
    context: cl_context,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    link_options: *const c_char,
    num_input_programs: cl_uint,
    input_programs: *const cl_program,
    pfn_notify: Notify,
    user_data: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_program {
    let link = LinkCall {
        context,
        devices: (num_devices, device_list),
        options: link_options,
        inputs: (num_input_programs, input_programs),
        notify: pfn_notify,
        user_data,
    };
    let mut program = std::ptr::null_mut();
    // "If the linking operation can begin, clLinkProgram returns a valid non-zero program object", also with
    // CL_LINK_PROGRAM_FAILURE.
    // SAFETY: the same contract.
    let code = Call { name: "clLinkProgram", objects: &[context] }.status(|| unsafe { link.begin(&mut program) });
    if !errcode_ret.is_null() {
        // SAFETY: not null, so the caller vouches for it.
        unsafe { errcode_ret.write(code) };
    }
    program
}

/// The arguments of `clLinkProgram`.
struct LinkCall {
    context: cl_context,
    /// `num_devices` and `device_list`.
    devices: (cl_uint, *const cl_device_id),
    options: *const c_char,
    /// `num_input_programs` and `input_programs`.
    inputs: (cl_uint, *const cl_program),
    notify: Notify,
    user_data: *mut c_void,
}

impl LinkCall {
    /// Begins the link, and leaves the program's handle as soon as there is one.
    ///
    /// # Safety
    /// The pointers are as the specification says.
    unsafe fn begin(&self, new_program: &mut cl_program) -> Result<()> {
        let context = handle::get::<Context>(self.context)?;
        // SAFETY: the caller vouches for the array.
        let mut devices = unsafe { devices_of(&context, self.devices.0, self.devices.1)? };
        if devices.is_empty() {
            devices = context.devices().to_vec();
        }
        // "CL_INVALID_VALUE if num_input_programs is zero […] or input_programs is NULL".
        let (input_count, input_list) = self.inputs;
        ensure!(input_count > 0, CL_INVALID_VALUE, "num_input_programs is 0");
        // SAFETY: the caller vouches for the array.
        let inputs = unsafe { handle::list::<Program>(input_count, input_list, CL_INVALID_VALUE)? };
        check_programs(&inputs, &context)?;
        check_callback(self.notify.is_some(), self.user_data)?;
        // SAFETY: the caller vouches for the string.
        let text = unsafe { option_string(self.options)? };
        // The callback gets the new program's handle, so that is published before the link begins.
        let mut published = Err(error!(CL_INVALID_PROGRAM, "the link has made no program"));
        let linked = build::link_program(&context, devices, text, &inputs, |program| {
            published = handle::publish(program.clone());
            let handle = published.as_ref().map_or(std::ptr::null_mut(), |handle| *handle);
            completion_callback(self.notify, handle, self.user_data).ok().flatten()
        });
        let (_, outcome) = linked?;
        *new_program = published?;
        outcome
    }
}

/// `clUnloadCompiler`: nothing is kept loaded.
#[entry_point(clUnloadCompiler)]
pub fn unload_compiler() -> Result<()> {
    Ok(())
}

/// `clUnloadPlatformCompiler`: "CL_INVALID_PLATFORM if platform is not a valid platform."
#[entry_point(clUnloadPlatformCompiler)]
pub fn unload_platform_compiler(platform: cl_platform_id) -> Result<()> {
    handle::get::<Platform>(platform).map(drop)
}
