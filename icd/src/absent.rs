//! Entry points of features this driver does not have: correctly typed functions that answer with one error code.
//!
//! What such a function is called on is still checked: a call on an invalid context says so before it says that the
//! feature is not there.

use std::ffi::c_void;

use lockstep_runtime::{Error, Result};
use opencl_sys::cl_int;

use crate::error::{entry, entry_ret};
use crate::handle::{self, Object};

/// What an entry point is called on: the type of its first parameter.
pub trait Subject {
    /// Whether the handle is a valid one.
    fn check(handle: *mut c_void) -> Result<()>;
}

impl<T: Object> Subject for T {
    fn check(handle: *mut c_void) -> Result<()> {
        handle::get::<T>(handle).map(drop)
    }
}

/// The subject of entry points whose answer says itself that there is no such object.
pub struct Anything;

impl Subject for Anything {
    fn check(_: *mut c_void) -> Result<()> {
        Ok(())
    }
}

/// The type of a first parameter.
pub trait Pointer {
    /// Where it points to.
    fn address(self) -> *mut c_void;
}

impl<T> Pointer for *mut T {
    fn address(self) -> *mut c_void {
        self.cast()
    }
}

impl<T> Pointer for *const T {
    fn address(self) -> *mut c_void {
        self.cast_mut().cast()
    }
}

/// A nullable entry point that can be filled with a function answering `CODE` when called on a valid `S`.
pub trait Absent<S: Subject, const CODE: cl_int>: Sized {
    /// The function.
    const ENTRY: Self;
}

/// The entry point that answers `CODE` when called on a valid `S`.
pub const fn absent<S: Subject, const CODE: cl_int, F: Absent<S, CODE>>() -> F {
    F::ENTRY
}

macro_rules! arity {
    ($($arg:ident)*) => {
        impl<S: Subject, P: Pointer, const CODE: cl_int, $($arg),*> Absent<S, CODE>
            for Option<unsafe extern "C" fn(P, $($arg),*) -> cl_int>
        {
            const ENTRY: Self = {
                extern "C" fn status<S: Subject, P: Pointer, const CODE: cl_int, $($arg),*>(
                    subject: P,
                    $(_: $arg),*
                ) -> cl_int {
                    entry(|| S::check(subject.address()).and(Err(Error::new(CODE))))
                }
                Some(status::<S, P, CODE, $($arg),*>)
            };
        }

        impl<S: Subject, const CODE: cl_int, $($arg),*> Absent<S, CODE>
            for Option<unsafe extern "C" fn(*mut c_void, $($arg,)* *mut cl_int) -> *mut c_void>
        {
            const ENTRY: Self = {
                /// # Safety
                /// `errcode_ret` is null or may be written.
                unsafe extern "C" fn object<S: Subject, const CODE: cl_int, $($arg),*>(
                    subject: *mut c_void,
                    $(_: $arg,)*
                    errcode_ret: *mut cl_int,
                ) -> *mut c_void {
                    // SAFETY: the same contract.
                    unsafe { entry_ret(errcode_ret, || S::check(subject).and(Err(Error::new(CODE)))) }
                }
                Some(object::<S, CODE, $($arg),*>)
            };
        }
    };
}

macro_rules! arities {
    () => { arity!(); };
    ($first:ident $($rest:ident)*) => {
        arity!($first $($rest)*);
        arities!($($rest)*);
    };
}
arities!(A B C D E F G H I J K L M);
