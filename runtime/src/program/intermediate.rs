//! Programs in an intermediate language: a SPIR-V module, and the values that the application gives for its constants.

use std::collections::HashMap;

use lockstep_protocol::spirv_module::{SpecializationValue, SpirvModule, find_specialization_constants};
use opencl_sys::{CL_INVALID_SPEC_ID, CL_INVALID_VALUE};
use parking_lot::Mutex;

use super::input_size::MOST_INPUT;
use crate::{Result, ensure, error};

/// A SPIR-V module that is framed well.
pub(super) struct IntermediateModule {
    /// The module as it was given.
    pub bytes: Vec<u8>,
    /// For each `SpecId` the bytes of the constant.
    sizes: HashMap<u32, usize>,
    /// The values given so far, one for each `SpecId`.
    values: Mutex<Vec<SpecializationValue>>,
}

impl IntermediateModule {
    /// A module of these bytes.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` where they are no module: "if il is NULL, if length is zero, or if the IL is not well-formed".
    pub fn from_bytes(bytes: &[u8]) -> Result<IntermediateModule> {
        let length = bytes.len();
        ensure!(length <= MOST_INPUT, CL_INVALID_VALUE, "a module of {length} bytes; {MOST_INPUT} are allowed");
        let module = SpirvModule::from_bytes(bytes).map_err(|framing| error!(CL_INVALID_VALUE, "{framing}"))?;
        let sizes = find_specialization_constants(&module);
        Ok(IntermediateModule { bytes: bytes.to_vec(), sizes, values: Mutex::default() })
    }

    /// Gives a constant a value for builds from now on.
    ///
    /// # Errors
    /// "CL_INVALID_SPEC_ID if spec_id is not a valid specialization constant identifier." "CL_INVALID_VALUE if spec_size does not match
    /// the size of the specialization constant in the module".
    pub fn specialize(&self, id: u32, value_bytes: &[u8]) -> Result<()> {
        let Some(&size) = self.sizes.get(&id) else {
            return Err(error!(CL_INVALID_SPEC_ID, "the module has no specialization constant {id}"));
        };
        let given = value_bytes.len();
        ensure!(given == size, CL_INVALID_VALUE, "specialization constant {id} has {size} bytes, not {given}");
        let mut values = self.values.lock();
        values.retain(|known| known.id != id);
        values.push(SpecializationValue { id, bytes: value_bytes.to_vec() });
        // The order in which values are given does not matter, so it is not to matter to the cache.
        values.sort_by_key(|known| known.id);
        Ok(())
    }

    /// The values given so far, by their ids.
    pub fn values(&self) -> Vec<SpecializationValue> {
        self.values.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with a constant of 32 bits, `SpecId` 5, and one that is true or false, `SpecId` 6.
    fn module_bytes() -> Vec<u8> {
        let header = [0x0723_0203_u32, 0x0001_0000, 0, 10, 0];
        let decorations = [4 << 16 | 71, 3, 1, 5, 4 << 16 | 71, 4, 1, 6];
        let types = [4 << 16 | 21, 1, 32, 0, 2 << 16 | 20, 2];
        let constants = [4 << 16 | 50, 1, 3, 7, 3 << 16 | 48, 2, 4];
        let words = [&header[..], &decorations, &types, &constants].concat();
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn values_are_checked_and_the_last_one_counts() {
        let module = IntermediateModule::from_bytes(&module_bytes()).expect("it is framed well");
        assert_eq!(module.specialize(7, &[0]).unwrap_err().code(), CL_INVALID_SPEC_ID);
        assert_eq!(module.specialize(5, &[0]).unwrap_err().code(), CL_INVALID_VALUE);
        assert_eq!(module.specialize(6, &[0, 0, 0, 0]).unwrap_err().code(), CL_INVALID_VALUE);
        module.specialize(6, &[1]).expect("a bool has one byte");
        module.specialize(5, &[1, 0, 0, 0]).expect("four bytes");
        module.specialize(5, &[2, 0, 0, 0]).expect("four bytes");
        let values = module.values().into_iter().map(|value| (value.id, value.bytes)).collect::<Vec<_>>();
        assert_eq!(values, [(5, vec![2, 0, 0, 0]), (6, vec![1])]);
    }

    #[test]
    fn what_is_no_module_is_refused() {
        for bytes in [&b""[..], b"kernel void f() {}", &module_bytes()[..30]] {
            assert_eq!(IntermediateModule::from_bytes(bytes).err().map(|error| error.code()), Some(CL_INVALID_VALUE));
        }
    }
}
