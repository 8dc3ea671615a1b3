//! The compiler's executable. It reads requests from its standard input, does each job, and writes the answers to its standard
//! output (`lockstep_protocol::job`); what goes wrong without an answer, its last words on standard error and how it ends tell.

mod jobs;
mod process_end;
mod process_priority;
mod progress_stream;
mod requests;
mod sandbox;

use std::io::{self, Write};

use lockstep_compiler::machine_code::{self, end_process_on_fatal_errors};
use lockstep_protocol::job::{Answer, Job, Request, read_message, write_message};
use sandbox::Confinement;

/// The name of this build; a driver's must be the same.
const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("LOCKSTEP_BUILD"));

fn main() {
    end_process_on_fatal_errors();
    process_priority::end_first_for_memory();
    progress_stream::write_stages();
    requests::limit_patience();
    let ended = answer_requests();
    if let Err(error) = &ended {
        eprintln!("{error}");
    }
    process_end::end_process(i32::from(ended.is_err()));
}

/// Answers one request after the other. An error is what cannot be read or written.
fn answer_requests() -> Result<(), String> {
    let mut confinement = None;
    let cannot_read = |error: io::Error| format!("cannot read the request: {error}");
    while let Some(bytes) = requests::read_request(&mut io::stdin()).map_err(cannot_read)? {
        process_end::end_with_driver();
        let answer = answer_request(&bytes, &mut confinement);
        process_end::outlive_driver();
        let mut output = io::stdout();
        let written = output.write_all(&write_message(&answer)).and_then(|()| output.flush());
        written.map_err(|error| format!("cannot write the answer: {error}"))?;
    }
    Ok(())
}

/// Does what a request asks for, within what the first one needs.
fn answer_request(bytes: &[u8], confinement: &mut Option<Confinement>) -> Answer {
    let request = match read_message::<Request>(bytes) {
        Some(request) if request.build == BUILD => request,
        // Of another build's request not even the form is known.
        _ => return Answer::OtherBuild(BUILD.to_owned()),
    };
    if confinement.is_some() && !matches!(request.job, Job::CompileKernel(_)) {
        return Answer::NoCode("the process has another program".to_owned());
    }
    if !machine_code::choose_level(request.level) {
        return Answer::NoCode("the process makes code for other processors".to_owned());
    }
    if request.in_background {
        process_priority::give_way();
    }
    let confinement =
        *confinement.get_or_insert_with(|| sandbox::confine_thread(&sandbox::Needs::of_request(&request)));
    jobs::do_job(request, confinement)
}
