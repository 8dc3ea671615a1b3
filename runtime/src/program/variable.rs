//! A program-scope variable that the host reads or writes by its name.

use std::sync::Arc;

use opencl_sys::CL_INVALID_VALUE;

use super::executable::Executable;
use crate::{Result, error};
use lockstep_protocol::types::Space;

/// A variable in global memory of a program that has been built. It keeps the program's variables alive.
#[derive(Clone)]
pub struct ProgramVariable {
    executable: Arc<Executable>,
    index: usize,
}

impl ProgramVariable {
    /// The variable of this name, as the linker knows it. Those that are `static` or not exported are there if a kernel uses them.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` where there is none.
    pub fn find_by_name(executable: Arc<Executable>, name: &str) -> Result<ProgramVariable> {
        let mut variables = executable.outline().globals.iter();
        let index = variables.position(|variable| variable.name == name && variable.space == Space::Global);
        match index.filter(|&index| executable.globals().address_of(index).is_some()) {
            Some(index) => Ok(ProgramVariable { executable, index }),
            None => Err(error!(
                CL_INVALID_VALUE,
                "the program has no variable '{name}' in global memory that others know or a kernel uses"
            )),
        }
    }

    /// Where its first byte is, for the host and for kernels. (A variable without an address is not found.)
    pub fn first_byte(&self) -> *mut u8 {
        self.executable.globals().address_of(self.index).unwrap_or(std::ptr::null_mut())
    }

    /// The bytes that it takes: those of its initial value.
    pub fn byte_size(&self) -> usize {
        self.executable.outline().globals[self.index].init.len()
    }
}
