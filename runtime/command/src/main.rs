//! `lockstep`: what a user asks of an installed driver. It reads the same switches as the driver does.

mod build;
mod cache;
mod devices;
mod doctor;
mod installation;
mod pages;
mod probe;
mod program_file;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use lockstep_runtime::compiler_process;
use lockstep_runtime::machine::processor_name;

/// What users ask of an installed Lockstep
#[derive(Parser)]
#[command(name = "lockstep", disable_version_flag = true, arg_required_else_help = true)]
struct Arguments {
    /// Say which commit this is, with which LLVM, on which processor
    #[arg(long, short = 'V')]
    version: bool,
    #[command(subcommand)]
    command: Option<Subcommands>,
}

#[derive(Subcommand)]
enum Subcommands {
    /// Look whether everything is in its place, and say what to do where it is not
    Doctor {
        /// Print one object of JSON: `version`, and `findings` with `subject`, `state` (`ok`, `lacking`, `broken`) and `words`
        #[arg(long)]
        json: bool,
    },
    /// List the platforms and devices that applications find, this driver's and others'
    Devices {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// What was compiled before
    #[command(subcommand)]
    Cache(cache::Command),
    /// Load the drivers and print what they are; other subcommands run this in a process of its own
    #[command(hide = true, name = probe::SUBCOMMAND)]
    Probe,
    /// Write man pages and completions for shells
    #[command(hide = true)]
    WritePages {
        /// The folder `share` to put them into
        folder: PathBuf,
    },
    /// Build a program without an application, and write the binary that the driver would give one
    ///
    /// Options and messages are those of clBuildProgram: the build log goes to standard error as it is, and includes are looked for
    /// in folders that -I names. The binary holds machine code for processors of this one's kind, or of the levels that --target names,
    /// and is for this version of the driver; other machines and versions do not take it.
    Build(build::Arguments),
    /// Launch one kernel with arguments from the command line, and check what it leaves in buffers
    Run(run::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    installation::use_driver_compiler();
    if arguments.version {
        println!("{}", describe_version());
    }
    match arguments.command {
        None => ExitCode::SUCCESS,
        Some(Subcommands::Doctor { json }) => doctor::report_findings(json),
        Some(Subcommands::Devices { json }) => devices::list_devices(json),
        Some(Subcommands::Probe) => probe::print_probe(),
        Some(Subcommands::Cache(command)) => cache::run_command(command),
        Some(Subcommands::WritePages { folder }) => match pages::write_pages(Arguments::command(), &folder) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{}: {error}", folder.display());
                ExitCode::FAILURE
            }
        },
        Some(Subcommands::Build(arguments)) => build::run_command(&arguments),
        Some(Subcommands::Run(arguments)) => run::run_command(&arguments),
    }
}

fn describe_version() -> String {
    let llvm = compiler_process::describe_compiler().map_or_else(|_| "no compiler".to_owned(), |facts| facts.llvm);
    format!("lockstep {} ({}, {llvm}, {})", env!("CARGO_PKG_VERSION"), env!("LOCKSTEP_COMMIT"), processor_name())
}
