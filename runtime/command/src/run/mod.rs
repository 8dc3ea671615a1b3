//! `lockstep run`: one kernel, launched with arguments from the command line, and a check of what it leaves.

mod argument;
mod check;
mod element;
mod fill;
mod launch;

use std::io::{BufWriter, Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use lockstep_runtime::kernel::Kernel;

use crate::program_file::{BuildArguments, build_file};
use check::{Comparison, compare_buffer, describe_output_error, print_elements, save_buffer};
use launch::{Buffer, Session, Sizes, find_kernel};

/// As many elements are printed where no number is said.
const PRINTED: usize = 16;

/// What the syntax of arguments is, for `--help`.
const SYNTAX: &str = "\
Arguments, one word each, in the order of the kernel's parameters:
  5  1.5  1,2,3,4        a value of the parameter's type; one number for all components of a vector
  int:5  float4:1,2,3,4  a value whose type is said, as it must be where the parameter's is a typedef
  int2:-1,2              as a vector must be whose first component is negative
  hex:0A0B0C             the bytes of any value, such as a struct
  buffer:COUNT           so many elements of what the parameter points to, zeros
  buffer:COUNT*TYPE=FILL elements of a type; of bytes where neither says one
  buffer=file(PATH)      as many elements as the file holds
  null                   a pointer to nothing
  local:BYTES            local memory
Whole numbers are decimal, or bits in hexadecimal (0xFF). FILL is zeros, ones, iota (0, 1, 2, …), random(SEED) (any whole numbers, or
fractions from 0 up to 1) or file(PATH) (as many bytes as the buffer has). Images, samplers and pipes cannot be given.

Exit status: 0; 1 where a buffer is not as expected; 2 where there is no launch to check.

Example:
  lockstep run saxpy.cl -g 1024 --expect 1=y.bin --ulps 2 2.5 'buffer:1024=random(7)' buffer:1024=iota";

/// What the command is told.
#[derive(clap::Args)]
#[command(after_long_help = SYNTAX, after_help = "--help has the syntax of arguments.")]
pub struct Arguments {
    /// A source in OpenCL C, a SPIR-V module, LLVM IR that clang made of one for spir64 (bitcode, or text in a file `.ll`), or a binary
    file: PathBuf,
    /// The kernel, where the program has several
    #[arg(short, long, value_name = "NAME")]
    kernel: Option<String>,
    /// Work-items by dimension
    #[arg(short, long, value_name = "SIZES", required = true, value_delimiter = ',')]
    global: Vec<usize>,
    /// Work-items of a group by dimension; the driver's choice if not said
    #[arg(short, long, value_name = "SIZES", value_delimiter = ',')]
    local: Option<Vec<usize>>,
    /// Compare a buffer with a file, by the argument's index from 0 on
    #[arg(long, value_name = "INDEX=FILE", value_parser = parse_file_choice)]
    expect: Vec<(usize, PathBuf)>,
    /// Let numbers with fractions be so many units in the last place apart; if not said, bits are compared
    #[arg(long, value_name = "N")]
    ulps: Option<u64>,
    /// Write a buffer to a file
    #[arg(long, value_name = "INDEX=FILE", value_parser = parse_file_choice)]
    save: Vec<(usize, PathBuf)>,
    /// Print a buffer's first elements, 16 if not said
    #[arg(long, value_name = "INDEX[:COUNT]", value_parser = parse_print_choice)]
    print: Vec<(usize, usize)>,
    /// After what is printed, saved and compared, launch it so often again and print how long that took
    #[arg(long, value_name = "N")]
    repeat: Option<u32>,
    #[command(flatten)]
    build: BuildArguments,
    /// The kernel's arguments
    #[arg(value_name = "ARGUMENTS", allow_negative_numbers = true)]
    words: Vec<String>,
}

/// Runs the command.
pub fn run_command(arguments: &Arguments) -> ExitCode {
    let session = Session::new();
    let program = match build_file(&arguments.file, session.opencl_context(), &arguments.build.text_with(&[])) {
        Ok(program) => program,
        Err(failure) => {
            failure.print_failure(&arguments.file);
            return ExitCode::from(2);
        }
    };
    let kernel = find_kernel(&program, arguments.kernel.as_deref());
    match kernel.and_then(|kernel| launch_and_check(&session, &kernel, arguments)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(words) => {
            eprintln!("lockstep: {words}");
            ExitCode::from(2)
        }
    }
}

/// Does what is asked with a kernel; whether all was as expected.
fn launch_and_check(session: &Session, kernel: &Arc<Kernel>, arguments: &Arguments) -> Result<bool, String> {
    let sizes = launch_sizes(arguments)?;
    let buffers = session.set_arguments(kernel, &arguments.words)?;
    check_choices(&buffers, arguments)?;
    session.launch_kernel(kernel, &sizes)?;
    let is_as_expected = check_buffers(session, &buffers, arguments)?;
    if let Some(count) = arguments.repeat.filter(|count| *count > 0) {
        let times: Result<Vec<Duration>, String> = (0..count).map(|_| session.launch_kernel(kernel, &sizes)).collect();
        writeln!(stdout(), "{}", describe_times(times?)).map_err(describe_output_error)?;
    }
    Ok(is_as_expected)
}

fn launch_sizes(Arguments { global, local, .. }: &Arguments) -> Result<Sizes, String> {
    match local {
        Some(local) if local.len() != global.len() => {
            Err(format!("-g has {} dimensions, -l has {}", global.len(), local.len()))
        }
        _ => Ok(Sizes { global: global.clone(), local: local.clone() }),
    }
}

/// Checks that all that is to be printed, saved or compared is a buffer.
fn check_choices(buffers: &[Option<Buffer>], arguments: &Arguments) -> Result<(), String> {
    let expected = arguments.expect.iter().map(|(index, _)| ("--expect", *index));
    let saved = arguments.save.iter().map(|(index, _)| ("--save", *index));
    let printed = arguments.print.iter().map(|(index, _)| ("--print", *index));
    for (option, index) in expected.chain(saved).chain(printed) {
        find_buffer(buffers, index).map_err(|words| format!("{option}: {words}"))?;
    }
    Ok(())
}

fn find_buffer(buffers: &[Option<Buffer>], index: usize) -> Result<&Buffer, String> {
    match buffers.get(index) {
        Some(Some(buffer)) => Ok(buffer),
        Some(None) => Err(format!("argument {index} is no buffer")),
        None => Err(format!("there is no argument {index}; the first one is 0")),
    }
}

/// Prints, saves and compares what is asked for; whether all was as expected.
fn check_buffers(session: &Session, buffers: &[Option<Buffer>], arguments: &Arguments) -> Result<bool, String> {
    for (index, count) in &arguments.print {
        print_elements(session, find_buffer(buffers, *index)?, *count, &mut BufWriter::new(stdout()))?;
    }
    for (index, path) in &arguments.save {
        save_buffer(session, find_buffer(buffers, *index)?, path)?;
    }
    let mut is_as_expected = true;
    for (index, path) in &arguments.expect {
        let buffer = find_buffer(buffers, *index)?;
        let comparison = compare_buffer(session, buffer, path, arguments.ulps)?;
        if let Comparison::Same(_) = comparison {
            writeln!(stdout(), "{}: {comparison}", buffer.subject).map_err(describe_output_error)?;
        } else {
            eprintln!("{}: {comparison}", buffer.subject);
            is_as_expected = false;
        }
    }
    Ok(is_as_expected)
}

/// The shortest and the middle one of some times.
fn describe_times(mut times: Vec<Duration>) -> String {
    times.sort();
    let milliseconds = |index: usize| times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    let (least, median) = (milliseconds(0), milliseconds(times.len() / 2));
    format!("min {least:.6} ms, median {median:.6} ms of {} launches", times.len())
}

/// An argument's index and a file: `INDEX=FILE`.
fn parse_file_choice(text: &str) -> Result<(usize, PathBuf), String> {
    let (index, path) = text.split_once('=').ok_or("it is no INDEX=FILE")?;
    Ok((parse_index(index)?, path.into()))
}

/// An argument's index and a number of elements: `INDEX` or `INDEX:COUNT`.
fn parse_print_choice(text: &str) -> Result<(usize, usize), String> {
    let Some((index, count)) = text.split_once(':') else { return Ok((parse_index(text)?, PRINTED)) };
    let count = count.parse().map_err(|_| format!("'{count}' is no number of elements"))?;
    Ok((parse_index(index)?, count))
}

fn parse_index(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("'{text}' is no index of an argument"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_have_an_index() {
        assert_eq!(parse_file_choice("2=a=b"), Ok((2, "a=b".into())));
        assert_eq!((parse_print_choice("3"), parse_print_choice("3:0")), (Ok((3, PRINTED)), Ok((3, 0))));
        for text in ["", "2", "x=a", "-1=a", "99999999999999999999=a"] {
            parse_file_choice(text).expect_err(text);
        }
        for text in ["", "x", "1:", "1:x", "1:-1"] {
            parse_print_choice(text).expect_err(text);
        }
    }

    #[test]
    fn times_are_told_in_milliseconds() {
        let times = [3_000, 1_500, 2_000].map(Duration::from_micros).to_vec();
        assert_eq!(describe_times(times), "min 1.500000 ms, median 2.000000 ms of 3 launches");
        assert_eq!(describe_times(Vec::new()), "min 0.000000 ms, median 0.000000 ms of 0 launches");
    }
}
