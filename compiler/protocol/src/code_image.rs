//! The form in which machine code passes from the compiler to who runs it.
//!
//! An image holds a kernel's code and constants as they lie in memory, at any address: inside of it everything is relative.
//! Functions outside are called through slots, eight bytes each, which who maps the image fills with their addresses; which
//! function a slot is for is said by its index in [`IMPORTED_FUNCTIONS`]. There are no names, no relocations and nothing to
//! write to once the slots are filled.

use serde::{Deserialize, Serialize};

use crate::kernel_abi::{COUNT_ITERATIONS, READ_CLOCK, TAKE_TURNS, YIELD};

/// Hands the functions of the C library that code may call to a macro, as `"library": names…;` a library: the mathematical
/// functions of C99 and of GNU that LLVM knows by intrinsics, and what it makes of loops and copies.
#[macro_export]
macro_rules! with_c_library_functions {
    ($receiver:ident) => {
        $receiver! {
            "m":
                acos acosf acosh acoshf asin asinf asinh asinhf atan atanf atan2 atan2f atanh atanhf
                cbrt cbrtf ceil ceilf copysign copysignf cos cosf cosh coshf
                erf erff erfc erfcf exp expf exp10 exp10f exp2 exp2f expm1 expm1f
                fabs fabsf fdim fdimf floor floorf fma fmaf fmax fmaxf fmin fminf fmod fmodf frexp frexpf
                hypot hypotf ilogb ilogbf ldexp ldexpf lgamma lgammaf lgamma_r lgammaf_r
                llrint llrintf llround llroundf log logf log10 log10f log1p log1pf log2 log2f logb logbf
                lrint lrintf lround lroundf modf modff nan nanf nearbyint nearbyintf nextafter nextafterf
                pow powf remainder remainderf remquo remquof rint rintf round roundf roundeven roundevenf
                scalbln scalblnf scalbn scalbnf sin sinf sincos sincosf sinh sinhf sqrt sqrtf
                tan tanf tanh tanhf tgamma tgammaf trunc truncf;
            "c":
                bcmp memcmp memcpy memmove memset strlen;
        }
    };
}

/// The names of all of them: those of the C library, of LLVM's run-time library for half precision and integers of 128 bits,
/// and the driver's own.
macro_rules! name_functions {
    ($($library:literal: $($name:ident)*;)*) => {
        &[
            $($(stringify!($name),)*)*
            "__extendhfsf2", "__extendhfdf2", "__truncsfhf2", "__truncdfhf2", "__gnu_h2f_ieee", "__gnu_f2h_ieee",
            "__truncsfbf2", "__truncdfbf2", "__udivti3", "__umodti3", "__divti3", "__modti3", "__multi3", "__muloti4",
            "__ashlti3", "__ashrti3", "__lshrti3", "__fixsfti", "__fixdfti", "__fixunssfti", "__fixunsdfti",
            "__floattisf", "__floattidf", "__floatuntisf", "__floatuntidf", "__powisf2", "__powidf2",
            READ_CLOCK, TAKE_TURNS, YIELD, COUNT_ITERATIONS,
        ]
    };
}

/// Every function outside of itself that an image may call. The order is part of the format of binaries and of the cache.
pub const IMPORTED_FUNCTIONS: &[&str] = with_c_library_functions!(name_functions);

/// The alignment of the address at which an image may lie, in bytes: that of a page.
pub const IMAGE_ALIGN: u64 = 4096;

/// The bytes of a slot.
pub const SLOT_BYTES: usize = 8;

/// A kernel's code and constants as they lie in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeImage {
    /// Code, constants and slots; slots hold nothing yet.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
    /// Where the kernel's function begins, in bytes from the start.
    pub entry: u32,
    /// The slots and what belongs in them.
    pub imports: Vec<ImportSlot>,
}

/// A slot for the address of a function outside of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportSlot {
    /// Where the slot is, in bytes from the start of the image.
    pub offset: u32,
    /// The function, by its index in [`IMPORTED_FUNCTIONS`].
    pub function: u32,
}

/// What is wrong with an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageFault {
    /// It holds nothing, or more than relative addresses reach.
    #[error("code of {0} bytes")]
    Size(usize),
    /// Its entry is outside of it.
    #[error("the entry at {entry} is outside of {size} bytes of code")]
    Entry {
        /// Where it is said to be.
        entry: u32,
        /// The bytes of the image.
        size: usize,
    },
    /// A slot is not whole, or not at its alignment.
    #[error("a slot at {offset} of {size} bytes of code")]
    Slot {
        /// Where it is said to be.
        offset: u32,
        /// The bytes of the image.
        size: usize,
    },
    /// A function that nobody has.
    #[error("a function with the index {0}")]
    Function(u32),
}

impl CodeImage {
    /// Checks what must hold before the image may be mapped.
    ///
    /// # Errors
    /// The first thing that does not hold.
    pub fn check_bounds(&self) -> Result<(), ImageFault> {
        let size = self.bytes.len();
        if size == 0 || i32::try_from(size).is_err() {
            return Err(ImageFault::Size(size));
        }
        if self.entry as usize >= size {
            return Err(ImageFault::Entry { entry: self.entry, size });
        }
        for &ImportSlot { offset, function } in &self.imports {
            let position = offset as usize;
            if !position.is_multiple_of(SLOT_BYTES) || position.saturating_add(SLOT_BYTES) > size {
                return Err(ImageFault::Slot { offset, size });
            }
            if function as usize >= IMPORTED_FUNCTIONS.len() {
                return Err(ImageFault::Function(function));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> CodeImage {
        CodeImage { bytes: vec![0xc3; 32], entry: 0, imports: vec![ImportSlot { offset: 24, function: 3 }] }
    }

    #[test]
    fn a_whole_image_may_be_mapped() {
        assert_eq!(image().check_bounds(), Ok(()));
        assert_eq!(CodeImage { imports: Vec::new(), entry: 31, ..image() }.check_bounds(), Ok(()));
    }

    #[test]
    fn what_lies_outside_is_found() {
        let wrong_slot =
            |offset| CodeImage { imports: vec![ImportSlot { offset, function: 0 }], ..image() }.check_bounds();
        for offset in [25, 28, 32, 1 << 20, u32::MAX - 7, u32::MAX] {
            assert_eq!(wrong_slot(offset), Err(ImageFault::Slot { offset, size: 32 }));
        }
        assert_eq!(CodeImage { entry: 32, ..image() }.check_bounds(), Err(ImageFault::Entry { entry: 32, size: 32 }));
        assert_eq!(CodeImage { bytes: Vec::new(), ..image() }.check_bounds(), Err(ImageFault::Size(0)));
        let function = IMPORTED_FUNCTIONS.len() as u32;
        let unknown = CodeImage { imports: vec![ImportSlot { offset: 24, function }], ..image() };
        assert_eq!(unknown.check_bounds(), Err(ImageFault::Function(function)));
    }

    #[test]
    fn each_function_has_one_index() {
        let names: std::collections::BTreeSet<_> = IMPORTED_FUNCTIONS.iter().collect();
        assert_eq!(names.len(), IMPORTED_FUNCTIONS.len());
    }
}
