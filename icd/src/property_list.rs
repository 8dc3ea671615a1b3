//! Property lists: names, each with a value behind it, and a 0 at the end.

use lockstep_runtime::{Result, ensure, error};
use opencl_sys::cl_int;
use std::fmt::LowerHex;

/// The error for a property that the function does not know.
pub fn unknown<T>(code: cl_int, name: impl LowerHex) -> Result<T> {
    Err(error!(code, "property {name:#x} is unknown"))
}

/// The error for a value that a property cannot have; `allowed` are those that it can.
pub fn wrong_value<T>(code: cl_int, name: &str, value: impl LowerHex, allowed: &str) -> Result<T> {
    Err(error!(code, "{name} is {value:#x}; {allowed} is allowed"))
}

/// Reads a property list: `take` gets each name and its value, and may refuse them. Returns the whole list with its
/// terminating 0, or nothing where there is none. A name given twice is answered with `twice`.
///
/// # Safety
/// `properties` is null or points to a list that ends in 0.
pub unsafe fn read<T: Copy + Default + PartialEq + LowerHex>(
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
        let is_known = list.iter().step_by(2).any(|&known| known == name);
        ensure!(!is_known, twice, "property {name:#x} is given twice");
        // SAFETY: a name is followed by its value.
        let value = unsafe { properties.add(list.len() + 1).read() };
        take(name, value)?;
        list.extend([name, value]);
    }
    list.push(T::default());
    Ok(list)
}
