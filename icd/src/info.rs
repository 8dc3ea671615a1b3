//! The answer of every `clGet*Info`: a value copied to where the application wants it, and its size.

use std::ffi::c_void;
use std::fmt::LowerHex;
use std::mem::{size_of, size_of_val};

use lockstep_runtime::{Result, ensure, error};
use opencl_sys::{CL_INVALID_VALUE, cl_bool, cl_image_format, cl_name_version};

/// Types whose bytes are all there is to them (no padding, no invalid value written out).
///
/// # Safety
/// Every byte of a value is initialised.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($t:ty),*) => { $(
        // SAFETY: an integer or a structure of such without padding.
        unsafe impl Plain for $t {}
    )* };
}
plain!(u8, i8, u16, u32, i32, u64, i64, usize, isize, cl_image_format, cl_name_version);
// SAFETY: a pointer is an address here.
unsafe impl<T> Plain for *mut T {}
// SAFETY: as above.
unsafe impl<T> Plain for *const T {}
// SAFETY: an array has no padding between its elements.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Where the application wants an answer.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
}

impl Info {
    /// The last three parameters of a `clGet*Info` call.
    ///
    /// # Safety
    /// `value` is null or points to `size` writable bytes; `size_ret` is null or points to a writable `size_t`.
    pub unsafe fn new(size: usize, value: *mut c_void, size_ret: *mut usize) -> Self {
        Self { size, value, size_ret }
    }

    /// One scalar, structure or handle.
    pub fn value<T: Plain>(self, value: T) -> Result<()> {
        self.slice(&[value])
    }

    /// Answers with a `cl_bool`.
    pub fn bool(self, value: bool) -> Result<()> {
        self.value(cl_bool::from(value))
    }

    /// Answers with an array of values.
    pub fn slice<T: Plain>(self, values: &[T]) -> Result<()> {
        debug_assert!(size_of::<T>() > 0);
        // SAFETY: `Plain` says that all bytes of the values are initialised.
        self.bytes(unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) })
    }

    /// A null-terminated string. Bytes after an inner null would be lost to the reader and are not written.
    pub fn string(self, text: &str) -> Result<()> {
        let text = text.split('\0').next().unwrap_or_default();
        let mut bytes = Vec::with_capacity(text.len() + 1);
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
        self.bytes(&bytes)
    }

    /// Bytes as they are.
    ///
    /// Every `clGet*Info`: "CL_INVALID_VALUE if [...] size in bytes specified by param_value_size is < size of return
    /// type [...] and param_value is not a NULL value".
    pub fn bytes(self, bytes: &[u8]) -> Result<()> {
        if !self.value.is_null() {
            let (size, needed) = (self.size, bytes.len());
            ensure!(size >= needed, CL_INVALID_VALUE, "param_value_size is {size}; the answer has {needed} bytes");
            // SAFETY: the application vouches for `size` writable bytes, and there are no more than that.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.value.cast(), bytes.len()) };
        }
        if !self.size_ret.is_null() {
            // SAFETY: not null, so the application vouches for it.
            unsafe { self.size_ret.write(bytes.len()) };
        }
        Ok(())
    }
}

/// The error for a `param_name` that the function does not know.
pub fn unknown<T>(param_name: impl LowerHex) -> Result<T> {
    Err(error!(CL_INVALID_VALUE, "param_name {param_name:#x} is nothing that this function can be asked for"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(size: usize, f: impl FnOnce(Info) -> Result<()>) -> (Result<()>, [u8; 16], usize) {
        let (mut buffer, mut size_ret) = ([0xAA; 16], usize::MAX);
        assert!(size <= buffer.len());
        // SAFETY: both point to locals that are large enough.
        let info = unsafe { Info::new(size, buffer.as_mut_ptr().cast(), &raw mut size_ret) };
        let result = f(info);
        (result, buffer, size_ret)
    }

    #[test]
    fn strings_end_in_null_and_count_it() {
        let (result, buffer, size) = ask(16, |i| i.string("abc"));
        assert_eq!(result, Ok(()));
        assert_eq!(&buffer[..5], b"abc\0\xAA");
        assert_eq!(size, 4);
    }

    #[test]
    fn too_small_is_invalid_value_and_writes_nothing() {
        let (result, buffer, size) = ask(3, |i| i.value(7u32));
        assert_eq!(result.unwrap_err().code(), CL_INVALID_VALUE);
        assert_eq!((buffer, size), ([0xAA; 16], usize::MAX));
    }

    #[test]
    fn size_alone_can_be_asked() {
        let mut size_ret = 0;
        // SAFETY: no buffer; the size goes to a local.
        let info = unsafe { Info::new(0, std::ptr::null_mut(), &raw mut size_ret) };
        assert_eq!(info.slice(&[1u64, 2, 3]), Ok(()));
        assert_eq!(size_ret, 24);
    }
}
