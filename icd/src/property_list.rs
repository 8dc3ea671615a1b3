//! Property lists: names, each with a value behind it, and a 0 at the end.

use lockstep_runtime::{Result, ensure};
use opencl_sys::cl_int;

/// Reads a property list: `take` gets each name and its value, and may refuse them. Returns the whole list with its
/// terminating 0, or nothing where there is none. A name given twice is answered with `twice`.
///
/// # Safety
/// `properties` is null or points to a list that ends in 0.
pub unsafe fn read<T: Copy + Default + PartialEq>(
    properties: *const T,
    twice: cl_int,
    mut take: impl FnMut(T, T) -> Result<()>,
) -> Result<Vec<T>> {
    let mut list = Vec::new();
    if properties.is_null() {
        return Ok(list);
    }
    // SAFETY: the list has not ended yet.
    while let name = unsafe { properties.add(list.len()).read() }
        && name != T::default()
    {
        ensure!(!list.iter().step_by(2).any(|&known| known == name), twice);
        // SAFETY: a name is followed by its value.
        let value = unsafe { properties.add(list.len() + 1).read() };
        take(name, value)?;
        list.extend([name, value]);
    }
    list.push(T::default());
    Ok(list)
}
