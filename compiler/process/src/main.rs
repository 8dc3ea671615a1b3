//! The compiler's executable. It reads one request from its standard input, does the job, and writes the answer to its standard
//! output (`lockstep_protocol::job`); what goes wrong without an answer, its last words on standard error and how it ends tell.

mod jobs;
mod process_end;
mod process_priority;
mod progress_stream;
mod sandbox;

use std::io::{Read, Write};

use lockstep_compiler::machine_code::end_process_on_fatal_errors;
use lockstep_protocol::job::{Answer, Request, read_message, write_message};

/// The name of this build; a driver's must be the same.
const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("LOCKSTEP_BUILD"));

fn main() {
    end_process_on_fatal_errors();
    progress_stream::write_stages();
    let ended = answer_request();
    if let Err(error) = &ended {
        eprintln!("{error}");
    }
    process_end::end_process(i32::from(ended.is_err()));
}

/// Reads a request, does what it asks for, and writes the answer. An error is what cannot be read or written.
fn answer_request() -> Result<(), String> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().read_to_end(&mut bytes);
    read.map_err(|error| format!("cannot read the request: {error}"))?;
    process_end::end_with_driver();
    let answer = match read_message::<Request>(&bytes) {
        Some(request) if request.build == BUILD => {
            if request.in_background {
                process_priority::give_way();
            }
            let confinement = sandbox::confine_thread(&sandbox::Needs::of_request(&request));
            jobs::do_job(request, confinement)
        }
        // Of another build's request not even the form is known.
        _ => Answer::OtherBuild(BUILD.to_owned()),
    };
    let mut output = std::io::stdout();
    let written = output.write_all(&write_message(&answer)).and_then(|()| output.flush());
    written.map_err(|error| format!("cannot write the answer: {error}"))
}
