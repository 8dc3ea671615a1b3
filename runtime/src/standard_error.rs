//! Standard error, as a library may write to it.

/// Writes a text in one piece, if that is possible. A stream that is closed or full is no error, and no lock is held: in a forked
/// child that of the standard library may be locked for good.
pub(crate) fn write_to_standard_error(text: &str) {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match rustix::io::retry_on_intr(|| rustix::io::write(std::io::stderr(), rest)) {
            Ok(0) | Err(_) => return,
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
        }
    }
}
