//! Queries: every `clGet*Info` has the same last three arguments, so each helper takes a closure over those.

use std::ffi::c_void;
use std::ptr;

use opencl_sys::*;

use crate::codes::{expect, ok};
use crate::plain::Plain;

/// The bytes of the answer, after checking the rules that hold for every query: the size can be asked for alone, the
/// value alone, and a buffer one byte too small is an error.
///
/// # Panics
/// When one of the rules is broken.
#[track_caller]
pub fn bytes(query: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> Vec<u8> {
    let mut size = usize::MAX;
    ok(query(0, ptr::null_mut(), &mut size));
    assert_ne!(size, usize::MAX, "param_value_size_ret is not written");
    // Some room behind the value shows whether the driver writes more than it says.
    let mut value = vec![0xA5; size + 16];
    ok(query(size, value.as_mut_ptr().cast(), ptr::null_mut()));
    assert!(value[size..].iter().all(|&byte| byte == 0xA5), "the value is longer than param_value_size_ret");
    if size > 0 {
        let mut small = vec![0xA5_u8; size];
        // The clause of every query: "CL_INVALID_VALUE if size in bytes specified by param_value_size is < size of
        // return type and param_value is not NULL".
        expect(query(size - 1, small.as_mut_ptr().cast(), ptr::null_mut()), CL_INVALID_VALUE);
    }
    let mut again = 0;
    let mut roomy = vec![0xA5; size + 16];
    ok(query(size + 16, roomy.as_mut_ptr().cast(), &mut again));
    assert_eq!(again, size, "param_value_size_ret depends on param_value_size");
    value.truncate(size);
    value
}

/// The answer as one value.
///
/// # Panics
/// When its size is not that of `T`.
#[track_caller]
pub fn value<T: Plain>(query: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> T {
    let bytes = bytes(query);
    assert_eq!(bytes.len(), size_of::<T>(), "the answer has the wrong size");
    T::from_bytes(&bytes)[0]
}

/// The answer as an array.
///
/// # Panics
/// When its size is not a multiple of that of `T`.
#[track_caller]
pub fn array<T: Plain>(query: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> Vec<T> {
    let bytes = bytes(query);
    assert_eq!(bytes.len() % size_of::<T>(), 0, "the answer has the wrong size");
    T::from_bytes(&bytes)
}

/// The answer as text, without its terminating zero.
///
/// # Panics
/// When it is not terminated by the only zero or is not UTF-8.
#[track_caller]
pub fn text(query: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> String {
    let mut bytes = bytes(query);
    assert_eq!(bytes.pop(), Some(0), "the text is not terminated");
    assert!(!bytes.contains(&0), "the text ends before the answer does");
    String::from_utf8(bytes).expect("the text is UTF-8")
}
