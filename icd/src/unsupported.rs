//! Entry points of features this driver does not have: correctly typed functions that answer with one error code.
//!
//! What such a function is called on is still checked: a call on an invalid context says so before it says that the
//! feature is not there.

use std::ffi::c_void;

use lockstep_runtime::{Result, error};
use opencl_sys::cl_int;

use crate::error::Call;
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

/// An entry point that is not there.
pub trait Missing {
    /// What it is called on.
    type Subject: Subject;
    /// Its name in C.
    const NAME: &'static str;
    /// The code that it answers with when called on a valid subject.
    const CODE: cl_int;
    /// Why it is not there, as a sentence.
    const WHY: &'static str;

    /// What a call comes to.
    fn call(subject: *mut c_void) -> Result<()> {
        Self::Subject::check(subject)?;
        Err(error!(Self::CODE, "{}", Self::WHY))
    }
}

/// A nullable entry point that can be filled with a function answering as `Feature` says.
pub trait Absent<Feature: Missing>: Sized {
    /// The function that the table gets.
    const ENTRY: Self;
}

/// The entry point that answers as `Feature` says.
pub const fn absent_entry<Feature: Missing, F: Absent<Feature>>() -> F {
    F::ENTRY
}

/// The entry point of this name, which answers with this code and sentence when called on a valid object of the type.
macro_rules! missing {
    ($name:ident, $subject:ty, $code:ident, $why:literal) => {{
        struct This;
        impl Missing for This {
            type Subject = $subject;
            const NAME: &'static str = stringify!($name);
            const CODE: cl_int = $code;
            const WHY: &'static str = $why;
        }
        absent_entry::<This, _>()
    }};
}
pub(crate) use missing;

macro_rules! arity {
    ($($arg:ident)*) => {
        impl<Feature: Missing, P: Pointer, $($arg),*> Absent<Feature>
            for Option<unsafe extern "C" fn(P, $($arg),*) -> cl_int>
        {
            const ENTRY: Self = {
                extern "C" fn status<Feature: Missing, P: Pointer, $($arg),*>(
                    subject: P,
                    $(_: $arg),*
                ) -> cl_int {
                    let subject = subject.address();
                    Call { name: Feature::NAME, objects: &[subject] }.status(|| Feature::call(subject))
                }
                Some(status::<Feature, P, $($arg),*>)
            };
        }

        impl<Feature: Missing, $($arg),*> Absent<Feature>
            for Option<unsafe extern "C" fn(*mut c_void, $($arg,)* *mut cl_int) -> *mut c_void>
        {
            const ENTRY: Self = {
                /// # Safety
                /// `errcode_ret` is null or may be written.
                unsafe extern "C" fn object<Feature: Missing, $($arg),*>(
                    subject: *mut c_void,
                    $(_: $arg,)*
                    errcode_ret: *mut cl_int,
                ) -> *mut c_void {
                    let call = Call { name: Feature::NAME, objects: &[subject] };
                    // SAFETY: the same contract.
                    unsafe { call.object(errcode_ret, || Feature::call(subject).map(|()| std::ptr::null_mut())) }
                }
                Some(object::<Feature, $($arg),*>)
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
