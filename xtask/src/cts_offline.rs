//! The compiler that the Khronos suite calls where its programs are to get SPIR-V instead of OpenCL C: clang 22 with
//! LLVM's own back end for SPIR-V.
//!
//! The suite's `cl_offline_compiler-interface.txt` says how it is called. `cts` names this command to the suite's programs
//! (`--compilation-program`), so that nothing has to lie on the `PATH`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::process;

/// The name of the command, as the suite's programs are told it.
pub const NAME: &str = "offline-compiler";

/// Extensions by which a module says more, all of which the driver knows; the back end uses none that it is not told of.
const EXTENSIONS: &str = "--spirv-ext=+SPV_EXT_optnone,+SPV_EXT_relaxed_printf_string_address_space,\
    +SPV_EXT_shader_atomic_float_add,+SPV_EXT_shader_atomic_float_min_max,+SPV_INTEL_memory_access_aliasing,\
    +SPV_INTEL_subgroups,+SPV_KHR_bit_instructions,+SPV_KHR_expect_assume,+SPV_KHR_float_controls,\
    +SPV_KHR_integer_dot_product,+SPV_KHR_linkonce_odr,+SPV_KHR_no_integer_wrap_decoration,+SPV_KHR_shader_clock,\
    +SPV_KHR_subgroup_rotate,+SPV_KHR_uniform_group_instructions";

/// Options of OpenCL C that the suite gives to compilers of its own kind and clang does not know.
const UNKNOWN_TO_CLANG: [&str; 4] =
    ["-cl-fp16-enable", "-cl-fp64-enable", "-cl-zero-init-local-mem-vars", "-cl-no-subgroup-ifp"];

/// What the suite says.
#[derive(clap::Args)]
pub struct Options {
    /// What to make; here only `spir-v`
    #[arg(long)]
    mode: String,
    /// The file of OpenCL C
    #[arg(long)]
    source: PathBuf,
    /// The file to write
    #[arg(long)]
    output: PathBuf,
    /// What the suite has found out about the device
    #[arg(long)]
    cl_device_info: PathBuf,
    /// The options of the build, as the programs would give them to the driver
    #[arg(last = true)]
    build_options: Vec<String>,
}

/// Writes the module of a source.
pub fn run(options: &Options) -> Result<()> {
    ensure!(options.mode == "spir-v", "only the mode spir-v is there, not {}", options.mode);
    let device = std::fs::read_to_string(&options.cl_device_info)
        .with_context(|| format!("cannot read {}", options.cl_device_info.display()))?;
    process::run(Command::new("clang-22").args(words_for_clang(options, &device)?))
}

fn words_for_clang(options: &Options, device: &str) -> Result<Vec<String>> {
    // Without LLVM's passes the driver's have as much to do as with the source.
    let mut words: Vec<String> = ["-x", "cl", "-O2", "-Xclang", "-disable-llvm-passes", "-w"].map(String::from).into();
    words.extend([target_of(device)?, "-mllvm", EXTENSIONS].map(String::from));
    // clang defines the macros of those extensions only that change the language.
    let extensions = value_of("CL_DEVICE_EXTENSIONS", device).unwrap_or_default();
    words.extend(extensions.split_whitespace().map(|name| format!("-D{name}=1")));
    for word in &options.build_options {
        match word.as_str() {
            // To clang OpenCL C 3.1 is 3.0 with another number.
            "-cl-std=CL3.1" => words
                .extend(["-cl-std=CL3.0", "-U__OPENCL_C_VERSION__", "-D__OPENCL_C_VERSION__=310"].map(String::from)),
            unknown if UNKNOWN_TO_CLANG.contains(&unknown) => {}
            _ => words.push(word.clone()),
        }
    }
    words.extend(["-c".to_owned(), "-o".to_owned(), shown(&options.output), shown(&options.source)]);
    Ok(words)
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// What clang is told to compile for, by what the suite writes of a device.
fn target_of(device: &str) -> Result<&'static str> {
    Ok(match value_of("CL_DEVICE_ADDRESS_BITS", device) {
        Some("64") => "--target=spirv64",
        Some("32") => "--target=spirv32",
        other => bail!("addresses of {other:?} bits are neither of 32 nor of 64"),
    })
}

/// What the suite says of a device, a `NAME=VALUE` or `NAME="VALUE"` a line.
fn value_of<'a>(name: &str, device: &'a str) -> Option<&'a str> {
    let value = device.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
    Some(value.trim().trim_matches('"'))
}

/// The arguments that make a program of the suite take modules from this command, which it keeps with their sources in
/// the folder. The folder is emptied: what an earlier run left may be another compiler's, and the suite would take it.
pub fn prepare_module_folder(folder: &Path) -> Result<Vec<String>> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let this = std::env::current_exe().context("cannot find out which program this is")?;
    // A shell reads the name of the compiler.
    let compiler = format!("'{}' {NAME}", this.display());
    let words = ["--compilation-mode", "spir-v", "--compilation-program", &compiler, "--compilation-cache-path"];
    let mut words: Vec<String> = words.map(String::from).into();
    // Whether clang's modules are valid is no matter of the driver's, and validators older than clang refuse some.
    words.extend([shown(folder), "--disable-spirv-validation".to_owned()]);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::parsed;

    const SOURCE: &str = "#if __OPENCL_C_VERSION__ != 310 || !defined cl_khr_il_program\n#error wrong macros\n#endif\n\
        kernel void square(global float *values) {\n\
        size_t i = get_global_id(0); values[i] = SCALE * values[i] * values[i]; }\n";

    /// The suite's words, with its files in a folder.
    fn called(folder: &Path, build_options: &[&str]) -> Options {
        let file = |option: &str, name: &str| format!("--{option}={}", folder.join(name).display());
        let files = [file("source", "a.cl"), file("output", "a.spv64"), file("cl-device-info", "device.txt")];
        let mut words = vec!["--mode=spir-v"];
        words.extend(files.iter().map(String::as_str));
        words.push("--");
        words.extend(build_options);
        parsed(&words).expect("the suite's words are understood")
    }

    #[test]
    fn a_source_becomes_a_module_for_the_devices_addresses() {
        let folder = tempfile::tempdir().expect("a folder");
        let in_folder = |name: &str| folder.path().join(name);
        std::fs::write(in_folder("a.cl"), SOURCE).expect("written");
        let build_options = ["-cl-std=CL3.1", "-DSCALE=2.0f", "-cl-fp16-enable"];
        for (bits, model) in [("64", 2), ("32", 1)] {
            let device =
                format!("# A device\nCL_DEVICE_ADDRESS_BITS={bits}\nCL_DEVICE_EXTENSIONS=\"cl_khr_il_program a_b\"\n");
            std::fs::write(in_folder("device.txt"), device).expect("written");
            run(&called(folder.path(), &build_options)).expect("clang-22 makes a module");
            let module = std::fs::read(in_folder("a.spv64")).expect("written");
            let words: Vec<u32> =
                module.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
            assert_eq!(words[0], 0x0723_0203, "the magic number of SPIR-V");
            // OpMemoryModel of three words, with Physical32 or Physical64, and OpenCL.
            assert!(words.windows(3).any(|found| found == [0x0003_000e, model, 2]), "{bits} bits");
        }
    }

    #[test]
    fn what_cannot_be_compiled_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.cl"), SOURCE).expect("written");
        let device = "CL_DEVICE_ADDRESS_BITS=64\nCL_DEVICE_EXTENSIONS=\"cl_khr_il_program\"\n";
        std::fs::write(folder.path().join("device.txt"), device).expect("written");
        // The kernel needs SCALE, and to be of OpenCL C 3.1.
        assert!(run(&called(folder.path(), &["-cl-std=CL3.1"])).is_err());
        assert!(run(&called(folder.path(), &["-cl-std=CL3.0", "-DSCALE=1"])).is_err());
        let mut binary = called(folder.path(), &["-cl-std=CL3.1", "-DSCALE=1"]);
        binary.mode = "binary".to_owned();
        assert!(run(&binary).expect_err("no binaries").to_string().contains("binary"));
    }

    #[test]
    fn a_device_says_how_wide_its_addresses_are() {
        assert!(target_of("CL_DEVICE_ADDRESS_BITS=16\n").is_err());
        assert!(target_of("CL_DEVICE_NAME=\"CL_DEVICE_ADDRESS_BITS=64\"\n").is_err());
    }
}
