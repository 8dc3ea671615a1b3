//! Entry points of features this driver does not have: correctly typed functions that answer with one error code.

use std::ffi::c_void;

use opencl_sys::cl_int;

/// A nullable entry point that can be filled with a function answering `CODE`.
pub trait Absent<const CODE: cl_int>: Sized {
    /// The function.
    const ENTRY: Self;
}

/// The entry point that answers `CODE`.
pub const fn absent<const CODE: cl_int, F: Absent<CODE>>() -> F {
    F::ENTRY
}

macro_rules! arity {
    ($($arg:ident)*) => {
        impl<const CODE: cl_int, $($arg),*> Absent<CODE> for Option<unsafe extern "C" fn($($arg),*) -> cl_int> {
            const ENTRY: Self = {
                extern "C" fn status<const CODE: cl_int, $($arg),*>($(_: $arg),*) -> cl_int {
                    CODE
                }
                Some(status::<CODE, $($arg),*>)
            };
        }

        impl<const CODE: cl_int, $($arg),*> Absent<CODE>
            for Option<unsafe extern "C" fn($($arg,)* *mut cl_int) -> *mut c_void>
        {
            const ENTRY: Self = {
                /// # Safety
                /// `errcode_ret` is null or may be written.
                unsafe extern "C" fn object<const CODE: cl_int, $($arg),*>(
                    $(_: $arg,)*
                    errcode_ret: *mut cl_int,
                ) -> *mut c_void {
                    if !errcode_ret.is_null() {
                        // SAFETY: not null, so the caller vouches for it.
                        unsafe { errcode_ret.write(CODE) };
                    }
                    std::ptr::null_mut()
                }
                Some(object::<CODE, $($arg),*>)
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
arities!(A B C D E F G H I J K L M N);
