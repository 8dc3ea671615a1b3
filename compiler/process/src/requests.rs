//! The requests, as they come on standard input one after the other.

use std::io::{self, ErrorKind, Read};

use lockstep_protocol::job::{LENGTH_BYTES, PATIENCE_MS, message_length};

/// Has reading end when nothing has come for as long as a process waits for another job. A stream that is no socket is waited for until
/// it ends.
pub fn limit_patience() {
    let patience = libc::timeval {
        tv_sec: (PATIENCE_MS / 1000) as libc::time_t,
        tv_usec: (PATIENCE_MS % 1000 * 1000) as libc::suseconds_t,
    };
    // SAFETY: the system reads a structure that lives here.
    unsafe {
        libc::setsockopt(
            libc::STDIN_FILENO,
            libc::SOL_SOCKET,
            libc::SO_RCVTIMEO,
            (&raw const patience).cast(),
            size_of_val(&patience) as libc::socklen_t,
        )
    };
}

/// The next request's bytes; none when there is no other.
///
/// # Errors
/// When the stream cannot be read, or ends in the middle.
pub fn read_request(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = Vec::new();
    match input.take(LENGTH_BYTES as u64).read_to_end(&mut length) {
        Err(error) if length.is_empty() && error.kind() == ErrorKind::WouldBlock => return Ok(None),
        read => read?,
    };
    if length.is_empty() {
        return Ok(None);
    }
    let length = message_length(&length).ok_or(ErrorKind::UnexpectedEof)?;
    let mut bytes = Vec::new();
    let count = input.take(length).read_to_end(&mut bytes)?;
    if count as u64 == length { Ok(Some(bytes)) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_one_after_the_other() {
        let stream = [&2_u64.to_le_bytes()[..], b"ab", &0_u64.to_le_bytes(), &1_u64.to_le_bytes(), b"c"].concat();
        let mut input = &stream[..];
        let mut requests = std::iter::from_fn(|| read_request(&mut input).unwrap());
        assert_eq!(requests.by_ref().collect::<Vec<_>>(), [b"ab".to_vec(), Vec::new(), b"c".to_vec()]);
    }

    #[test]
    fn an_end_in_the_middle_is_an_error() {
        for stream in [&b"1234567"[..], &[&3_u64.to_le_bytes()[..], b"ab"].concat()] {
            let mut input = stream;
            assert!(read_request(&mut input).is_err(), "{stream:?}");
        }
    }
}
