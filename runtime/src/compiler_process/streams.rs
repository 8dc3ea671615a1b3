//! The streams of the compiler's process: what it is asked, and what it says.
//!
//! Each is a pair of connected sockets. Unlike files in memory they are known to every kernel and allowed by most filters of
//! system calls, and no limit of the application's for the size of files holds for them. Unlike pipes they raise no `SIGPIPE`,
//! and the end of the requests can be told (`shutdown`) although a process that the application has forked meanwhile has
//! a copy of the socket. Nothing here blocks: who waits for the process passes on what there is.
//!
//! What the process is at is in a file in memory, which it writes to often and we read once. Where there can be none, nothing is
//! known of that.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use lockstep_protocol::job::{LENGTH_BYTES, PROGRESS_STREAM, ProgressRecord, message_length};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{Errno, fcntl_dupfd_cloexec, pread};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, recv, send, shutdown, socketpair,
};
use rustix::process::{Resource, getrlimit};

use super::start::StartError;

/// Bytes for which there is room at least when a stream is read.
const ROOM: usize = 64 << 10;

/// Reads of one stream in a row: one that is filled faster than it is emptied must not keep from the clock.
const MOST_READS: usize = 64;

/// This process's ends of the three streams.
pub(super) struct Streams {
    requests: Requests,
    /// Its standard output.
    pub output: Received,
    /// Its error stream.
    pub errors: Received,
    /// What it is at.
    pub progress: Progress,
}

/// The ends of the process: its standard input, output and error, and its stream of progress. In this process their numbers are
/// others than in that one.
pub(super) type ProcessEnds = [OwnedFd; 4];

/// The lowest number of a descriptor that has none of those which the process has for its streams.
pub(super) const LOWEST_DESCRIPTOR: RawFd = PROGRESS_STREAM + 1;

/// What the process is asked.
struct Requests {
    socket: OwnedFd,
    /// What is still to be said.
    rest: Vec<u8>,
    /// Whether nobody listens any more.
    is_over: bool,
}

/// What was said on a stream.
pub(super) struct Received {
    socket: OwnedFd,
    /// The beginning of it.
    pub bytes: Vec<u8>,
    /// Bytes that are kept at most.
    limit: usize,
    /// Whether more was said than is kept.
    pub is_too_much: bool,
    is_over: bool,
}

/// The file with what the process is at.
pub(super) struct Progress(Option<OwnedFd>);

impl Streams {
    /// Streams for a process, and its ends of them. Of output and errors so many bytes are kept.
    ///
    /// # Errors
    /// The system call that failed.
    pub fn open_streams(limits: [usize; 2]) -> Result<(Streams, ProcessEnds), StartError> {
        let [(request_socket, stdin), (output_socket, stdout), (error_socket, stderr)] =
            [connect_sockets()?, connect_sockets()?, connect_sockets()?];
        let progress = Progress::create_file();
        let progress_end = match &progress.0 {
            Some(file) => file.try_clone(),
            // There has to be one, or files that the process opens get its number: writing at a place of a socket fails.
            None => stdin.try_clone(),
        };
        let progress_end = progress_end.map_err(|error| StartError { call: "fcntl", error })?;
        let process_ends = [stdin, stdout, stderr, leave_process_numbers(progress_end)?];
        let streams = Streams {
            requests: Requests { socket: request_socket, rest: Vec::new(), is_over: false },
            output: Received::new(output_socket, limits[0]),
            errors: Received::new(error_socket, limits[1]),
            progress,
        };
        Ok((streams, process_ends))
    }

    /// This process's ends.
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let sockets = [&self.requests.socket, &self.output.socket, &self.errors.socket];
        sockets.into_iter().chain(&self.progress.0).map(AsFd::as_fd).collect()
    }

    /// Has a request passed on. What was said about the one before is gone.
    pub fn begin_request(&mut self, request: Vec<u8>) {
        self.requests.rest = request;
        self.output.forget();
        self.errors.forget();
    }

    /// Tells the process that there are no more requests.
    pub fn end_requests(&self) {
        // If it fails nobody listens any more.
        let _ = shutdown(&self.requests.socket, Shutdown::Write);
    }

    /// Passes on what can be passed on at once.
    ///
    /// # Errors
    /// The system call that failed for want of something. That the process has closed its end is no error here.
    pub fn exchange(&mut self) -> Result<(), StartError> {
        self.requests.send_some()?;
        self.output.receive_some()?;
        self.errors.receive_some()
    }

    /// Waits until there is something to pass on, or `ending` can be read from, or so much time is over.
    pub fn wait_for_news(&self, ending: Option<BorrowedFd<'_>>, longest: Duration) {
        let mut entries = Vec::with_capacity(4);
        entries.extend(ending.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN)));
        let is_asking = !self.requests.is_over && !self.requests.rest.is_empty();
        entries.extend(is_asking.then(|| PollFd::new(&self.requests.socket, PollFlags::OUT)));
        let incoming = [&self.output, &self.errors].into_iter().filter(|stream| !stream.is_over);
        entries.extend(incoming.map(|stream| PollFd::new(&stream.socket, PollFlags::IN)));
        let time = Timespec { tv_sec: longest.as_secs() as i64, tv_nsec: longest.subsec_nanos().into() };
        // An interruption by a signal ends the wait early, and the caller asks again.
        if let Err(error) = poll(&mut entries, Some(&time))
            && error != Errno::INTR
        {
            std::thread::sleep(longest.min(Duration::from_millis(1)));
        }
    }
}

impl Requests {
    fn send_some(&mut self) -> Result<(), StartError> {
        let mut sent = 0;
        while !self.is_over && sent < self.rest.len() {
            match send(&self.socket, &self.rest[sent..], SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(count) => sent += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // How the process ends tells why it does not listen.
                Err(Errno::PIPE | Errno::CONNRESET) => self.is_over = true,
                Err(error) => return Err(StartError { call: "send", error: error.into() }),
            }
        }
        self.rest.drain(..sent);
        Ok(())
    }
}

impl Received {
    fn new(socket: OwnedFd, limit: usize) -> Received {
        Received { socket, bytes: Vec::new(), limit, is_too_much: false, is_over: false }
    }

    fn forget(&mut self) {
        self.bytes.clear();
        self.is_too_much = false;
    }

    /// Takes a message that is there as a whole, without its length, if nothing comes behind it.
    pub fn take_message(&mut self) -> Option<Vec<u8>> {
        let length = message_length(&self.bytes)?;
        if (self.bytes.len() - LENGTH_BYTES) as u64 != length {
            return None;
        }
        Some(self.bytes.split_off(LENGTH_BYTES))
    }

    fn receive_some(&mut self) -> Result<(), StartError> {
        for _ in 0..MOST_READS {
            if self.is_over {
                break;
            }
            self.bytes.try_reserve(ROOM).map_err(|_| StartError::no_memory())?;
            match recv(&self.socket, spare_capacity(&mut self.bytes), RecvFlags::DONTWAIT) {
                Ok((0, _)) | Err(Errno::CONNRESET) => self.is_over = true,
                Ok(_) if self.bytes.len() > self.limit => {
                    self.is_too_much = true;
                    self.bytes.truncate(self.limit);
                }
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(error) => return Err(StartError { call: "recv", error: error.into() }),
            }
        }
        Ok(())
    }
}

impl Progress {
    fn create_file() -> Progress {
        let may_grow =
            getrlimit(Resource::Fsize).maximum.is_none_or(|bytes| bytes >= size_of::<ProgressRecord>() as u64);
        // A process that must not write it would be ended by a signal.
        Progress(may_grow.then(|| memfd_create(c"lockstep-progress", MemfdFlags::CLOEXEC).ok()).flatten())
    }

    /// What the process was at last, if it is known.
    pub fn read_stage(&self) -> String {
        let mut record = [0; size_of::<ProgressRecord>()];
        let count = self.0.as_ref().map(|file| pread(file, &mut record, 0));
        let count = count.and_then(Result::ok).unwrap_or_default();
        ProgressRecord::read_text(&record[..count])
    }
}

/// Two connected sockets, closed in children, under numbers that the process has for nothing.
fn connect_sockets() -> Result<(OwnedFd, OwnedFd), StartError> {
    let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None);
    let (ours, theirs) = pair.map_err(|error| StartError { call: "socketpair", error: error.into() })?;
    Ok((leave_process_numbers(ours)?, leave_process_numbers(theirs)?))
}

/// The same file under a number that the process has for nothing: an application that closed its own streams would find ours in
/// their place, and in the child the numbers would collide.
fn leave_process_numbers(descriptor: OwnedFd) -> Result<OwnedFd, StartError> {
    if descriptor.as_raw_fd() >= LOWEST_DESCRIPTOR {
        return Ok(descriptor);
    }
    let raised = fcntl_dupfd_cloexec(descriptor.as_fd(), LOWEST_DESCRIPTOR);
    raised.map_err(|error| StartError { call: "fcntl", error: error.into() })
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};

    use lockstep_protocol::job::write_message;

    use super::*;

    #[test]
    fn more_than_sockets_hold_goes_both_ways() {
        let request = vec![7; 5 << 20];
        let (mut streams, [stdin, stdout, stderr, _]) = Streams::open_streams([usize::MAX, 3]).unwrap();
        streams.begin_request(request.clone());
        let process = std::thread::spawn(move || {
            let mut read = Vec::new();
            File::from(stdin).take(5 << 20).read_to_end(&mut read).unwrap();
            File::from(stdout).write_all(&read).unwrap();
            File::from(stderr).write_all(b"words").unwrap();
        });
        while !streams.output.is_over || !streams.errors.is_over {
            streams.wait_for_news(None, Duration::from_secs(1));
            streams.exchange().unwrap();
        }
        process.join().unwrap();
        assert!(streams.output.bytes == request && !streams.output.is_too_much);
        assert_eq!((&*streams.errors.bytes, streams.errors.is_too_much), (&b"wor"[..], true));
    }

    #[test]
    fn messages_are_taken_when_they_are_whole() {
        let (mut streams, [_stdin, stdout, _stderr, _]) = Streams::open_streams([usize::MAX, 3]).unwrap();
        let mut stdout = File::from(stdout);
        let message = write_message(&"words");
        let (first, second) = message.split_at(message.len() - 1);
        for (part, expected) in [(first, None), (second, Some(&message[LENGTH_BYTES..]))] {
            stdout.write_all(part).unwrap();
            streams.exchange().unwrap();
            assert_eq!(streams.output.take_message().as_deref(), expected);
        }
        streams.begin_request(Vec::new());
        stdout.write_all(&[&message[..], b"more"].concat()).unwrap();
        streams.exchange().unwrap();
        assert_eq!(streams.output.take_message(), None);
    }

    #[test]
    fn who_does_not_listen_is_no_error() {
        let (mut streams, ends) = Streams::open_streams([1, 1]).unwrap();
        streams.begin_request(vec![7; 5 << 20]);
        drop(ends);
        streams.exchange().unwrap();
        streams.exchange().unwrap();
        assert!(streams.requests.is_over && streams.output.is_over && streams.errors.is_over);
    }
}
