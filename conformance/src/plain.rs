//! Types whose values are their bytes, as buffers, kernel arguments and query answers need.

/// A type without padding, references or invalid bit patterns.
///
/// # Safety
/// Every bit pattern is a value of the type, and it has no padding.
pub unsafe trait Plain: Copy + 'static {
    /// The bytes of the values.
    fn to_bytes(values: &[Self]) -> &[u8] {
        // SAFETY: by the trait's contract all bytes are initialised.
        unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
    }

    /// The values of the bytes; bytes that do not make up a value at the end are dropped.
    fn from_bytes(bytes: &[u8]) -> Vec<Self> {
        bytes
            .chunks_exact(size_of::<Self>())
            // SAFETY: the chunk has the type's size, and by the trait's contract any bytes make a value.
            .map(|chunk| unsafe { chunk.as_ptr().cast::<Self>().read_unaligned() })
            .collect()
    }
}

macro_rules! plain {
    ($($type:ty)*) => {
        $(
            // SAFETY: a primitive number or raw pointer.
            unsafe impl Plain for $type {}
        )*
    };
}
plain! { u8 i8 u16 i16 u32 i32 u64 i64 usize isize f32 f64 }

// SAFETY: the elements follow each other without padding.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

// SAFETY: any address may be held; nothing is promised about what it points to.
unsafe impl<T: 'static> Plain for *mut T {}
// SAFETY: as above.
unsafe impl<T: 'static> Plain for *const T {}
