//! The compiler's executable. It reads one request from its standard input, does the job, and writes the answer to its standard
//! output (`lockstep_protocol::job`); what goes wrong without an answer, its last words on standard error and how it ends tell.

mod jobs;
mod progress_stream;
mod sandbox;

use std::io::{Read, Write};
use std::process::ExitCode;

use lockstep_compiler::machine_code::end_process_on_fatal_errors;
use lockstep_protocol::job::{Answer, Request, read_message, write_message};

/// The name of this build; a driver's must be the same.
const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("LOCKSTEP_BUILD"));

fn main() -> ExitCode {
    end_process_on_fatal_errors();
    progress_stream::write_stages();
    let mut bytes = Vec::new();
    if let Err(error) = std::io::stdin().read_to_end(&mut bytes) {
        eprintln!("cannot read the request: {error}");
        return ExitCode::FAILURE;
    }
    let answer = match read_message::<Request>(&bytes) {
        Some(request) if request.build == BUILD => {
            sandbox::confine_thread(&sandbox::Needs::of_request(&request));
            jobs::do_job(request)
        }
        // Of another build's request not even the form is known.
        _ => Answer::OtherBuild(BUILD.to_owned()),
    };
    match std::io::stdout().write_all(&write_message(&answer)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write the answer: {error}");
            ExitCode::FAILURE
        }
    }
}
