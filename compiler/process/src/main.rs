//! The compiler as an executable: compiles the kernels of one file and says how large what comes out is.

use std::error::Error;
use std::process::ExitCode;

use lockstep_compiler::frontend::{FrontendConfig, compile_source, link_program};
use lockstep_compiler::machine_code::llvm_version;
use lockstep_compiler::pipeline::{compile_kernel, load};
use lockstep_protocol::build_options::BuildOptions;
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};

fn main() -> ExitCode {
    println!("LLVM {}", llvm_version());
    match std::env::args_os().nth(1).map_or(Ok(()), |path| compile_file(path.as_ref())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn compile_file(path: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let options = BuildOptions::default();
    let object = compile_source(&FrontendConfig::default(), &std::fs::read(path)?, &[], &options)?;
    println!("object: {} bytes", object.bitcode.len());
    let program = link_program(&[&object], &options)?;
    println!("program: {} bytes", program.bitcode.len());
    let module = load(&program)?;
    let in_gangs = CompileOptions { vectorize: Vectorize::Gangs(Default::default()), ..CompileOptions::default() };
    for (index, kernel) in module.kernels.iter().enumerate() {
        let compiled = compile_kernel(&module, index, &in_gangs)?;
        println!("{}: {:?}", kernel.name, compiled.object.needs);
    }
    Ok(())
}
