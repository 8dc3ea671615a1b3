//! SPIR-V of OpenCL C, as clang and LLVM's back end make it: what applications hand to a driver in the place of sources.

use std::io::Write;
use std::process::{Command, Stdio};

/// Extensions that let a module say more; LLVM's back end uses none that it is not told of.
const EXTENSIONS: &str = "--spirv-ext=+SPV_KHR_no_integer_wrap_decoration,+SPV_KHR_expect_assume,+SPV_KHR_float_controls,\
    +SPV_KHR_uniform_group_instructions,+SPV_KHR_linkonce_odr,+SPV_KHR_bit_instructions,+SPV_KHR_integer_dot_product,\
    +SPV_EXT_shader_atomic_float_add,+SPV_EXT_shader_atomic_float_min_max,+SPV_INTEL_subgroups,\
    +SPV_INTEL_memory_access_aliasing,+SPV_KHR_subgroup_rotate,+SPV_KHR_shader_clock";

/// Translates a source to SPIR-V. LLVM's own passes stay off: the driver's have as much to do as with the source.
pub fn translate_source(source: &str) -> Result<Vec<u8>, String> {
    let mut clang = Command::new("clang-22");
    clang.args(["-x", "cl", "-cl-std=CL3.0", "--target=spirv64", "-O2", "-Xclang", "-disable-llvm-passes"]);
    clang.args(["-Xclang", "-disable-lifetime-markers", "-w", "-emit-llvm", "-c", "-o", "-", "-"]);
    let bitcode = pipe_through(clang, source.as_bytes())?;
    let mut back_end = Command::new("llc-22");
    back_end.args(["-mtriple=spirv64", EXTENSIONS, "-filetype=obj", "-o", "-", "-"]);
    pipe_through(back_end, &bitcode)
}

/// What a program writes for an input.
fn pipe_through(mut command: Command, input: &[u8]) -> Result<Vec<u8>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("cannot start {name}: {error}"))?;
    let mut pipe = child.stdin.take().ok_or("a child without an input")?;
    // If it ends before it has read all, its exit code says so. Both programs read all before they write.
    let _ = pipe.write_all(input);
    drop(pipe);
    let output = child.wait_with_output().map_err(|error| format!("{name}: {error}"))?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        let first = messages.lines().find(|line| line.contains("error")).unwrap_or("it fails").to_owned();
        return Err(format!("{name}: {first}"));
    }
    Ok(output.stdout)
}
