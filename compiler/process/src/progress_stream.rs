//! Where the process leaves what it is doing: the stream that the driver gave it for that.

use std::fs::File;
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;

use lockstep_compiler::progress::tell_stages_to;
use lockstep_protocol::job::{PROGRESS_STREAM, ProgressRecord};

/// Has each stage written to the driver's stream, over the one before. Where there is no such stream nothing is written.
pub fn write_stages() {
    // SAFETY: by the protocol the descriptor is the driver's, for this; if there is none, each write fails.
    let stream = unsafe { File::from_raw_fd(PROGRESS_STREAM) };
    tell_stages_to(move |stage| _ = stream.write_all_at(&ProgressRecord::from_text(stage).0, 0));
}
